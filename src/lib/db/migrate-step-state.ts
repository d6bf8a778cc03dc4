import type { Sql } from './db.ts';

export type StepState = {
  name: string;
  unit: string;
  started_at: Date | null;
  worker: string | null;
  rows_done: number;
  rows_estimated: number | null;
  progressed_at: Date | null;
  failures: number;
  failure: string | null;
  retry_at: Date | null;
  ended_at: Date | null;
};

/** All steps that migrations have left in this database, in the order in which they are done. */
export async function listSteps(sql: Sql): Promise<StepState[]> {
  return await sql<StepState[]>`
    select name, unit, started_at, worker, rows_done::float8 as rows_done,
           rows_estimated::float8 as rows_estimated, progressed_at, failures, failure, retry_at, ended_at
    from migration_steps
    order by name`;
}

/** Whether there may be anything to do: a step that has ended never begins again. */
export async function hasOpenSteps(sql: Sql): Promise<boolean> {
  return (await sql`select from migration_steps where ended_at is null limit 1`).length > 0;
}

/** Whether a step has ended: what needs what it makes does without until then. Once true, it stays true. */
export async function stepEnded(sql: Sql, step: string): Promise<boolean> {
  const [row] = await sql<{ ended: boolean }[]>`select migration_step_ended(${step}) as ended`;
  return row?.ended ?? false;
}

/** One sentence on what is not over yet, if there is anything. */
export function describeSteps(states: readonly StepState[]): string | undefined {
  const open = states.filter(({ ended_at }) => ended_at === null);
  const current = open[0];
  if (!current) return undefined;
  const others = open.length - 1;
  const after = others === 0 ? '' : `; then ${others} more`;
  return `${progressOf(current)}${after}`;
}

export function progressOf(step: StepState): string {
  const { name, started_at, failures, failure } = step;
  if (failure !== null) {
    return `step ${name} of a migration failed ${times(failures)} and is tried again: ${failure}`;
  }
  if (started_at === null) return `step ${name} of a migration has not begun`;
  return `step ${name} of a migration is under way: ${amount(step)}`;
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);

function amount({ rows_done, rows_estimated, unit }: StepState): string {
  const done = rows_done.toLocaleString('en');
  if (rows_estimated === null) return `${done} ${unit} so far`;
  const share = Math.floor(100 * doneShare({ rows_done, rows_estimated }));
  return `${done} of about ${rows_estimated.toLocaleString('en')} ${unit} (${share} %)`;
}

/** The estimate is of the beginning: rows that came since may make it more. */
const doneShare = ({
  rows_done,
  rows_estimated,
}: Pick<StepState, 'rows_done' | 'rows_estimated'>) =>
  rows_estimated === null || rows_estimated === 0 ? 0 : Math.min(rows_done / rows_estimated, 0.99);
