import { readdirSync, readFileSync } from 'node:fs';
import { one, type Sql } from '../../src/lib/db/db.ts';

/** CPU time in microseconds of a process and its descendants, including ended ones. */
export type ProcessorTime = () => number;

const tickUs = 10_000;

/**
 * Reads the scheduler's statistics, which are exact to the nanosecond. Ended processes only count in the parent's
 * coarse ticks.
 */
export const processorTimeOf =
  (root: number): ProcessorTime =>
  () =>
    treeOf(root).reduce((sum, pid) => sum + runningUs(pid) + endedChildrenUs(pid), 0);

/** CPU time of all Postgres processes, found by the backend of this connection. */
export async function processorTimeOfPostgres(sql: Sql): Promise<ProcessorTime> {
  const { pid } = one(await sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
  return processorTimeOf(parentOf(pid));
}

/** CPU time per unit of work of each process, in microseconds. */
export async function costOf<Name extends string, Result>(
  { units, parts }: { units: number; parts: Readonly<Record<Name, ProcessorTime>> },
  work: () => Promise<Result>,
) {
  const names = Object.keys(parts) as Name[];
  const before = names.map((name) => parts[name]());
  const begun = performance.now();
  const result = await work();
  const ms = performance.now() - begun;
  const used = names.map((name, at) => [name, (parts[name]() - before[at]!) / units] as const);
  return { result, ms, us: Object.fromEntries(used) as Record<Name, number> };
}

function treeOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
}

const threadsOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

const runningUs = (pid: number) =>
  threadsOf(pid).reduce(
    (sum, thread) =>
      sum + Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1000,
    0,
  );

function endedChildrenUs(pid: number): number {
  const [user = 0, system = 0] = statOf(pid).slice(13, 15).map(Number);
  return (user + system) * tickUs;
}

const parentOf = (pid: number) => Number(statOf(pid)[1]);

/** The fields after the name of the program, beginning with the state. */
const statOf = (pid: number) => read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];

/** The process may have ended in the meantime. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
