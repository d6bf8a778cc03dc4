import type { Cost } from './growth-load.ts';
import type { Storage } from './growth-storage.ts';
import { number, table } from './report.ts';

export type GrowthRun = {
  answers: number;
  seedSeconds: number;
  storage: Storage;
  costs: Cost[];
  several: {
    processes: number;
    pooler: 'none' | 'PgBouncer' | 'PgBouncer, prepared';
    costs: Cost[];
  }[];
};

const megabyte = 1024 ** 2;

/** One row for each kind of request, one column for each size, and how much the last is of the first. */
export function costTable(runs: readonly GrowthRun[]): string[] {
  const [first, last] = [runs[0]!, runs.at(-1)!];
  const rows = first.costs.map(({ name }) => {
    const all = runs.map((run) => run.costs.find((cost) => cost.name === name)!);
    const grown = total(all.at(-1)!) / total(all[0]!);
    return [name, ...all.map((cost) => number(total(cost))), ...all.map(p50), number(grown, 2)];
  });
  const sizes = runs.map(({ answers }) => number(answers));
  return table(
    [
      '',
      ...sizes.map((size) => `CPU µs at ${size}`),
      ...sizes.map((size) => `p50 ms at ${size}`),
      `${number(last.answers)} / ${number(first.answers)}`,
    ],
    rows,
  );
}

/** Of the service and Postgres together. */
const total = ({ us }: Cost) => us.service + us.postgres;
const p50 = (cost: Cost) => number(cost.p50, 1);

export function storageTable(runs: readonly GrowthRun[]): string[] {
  const names = runs[0]!.storage.indexes.map(({ name }) => name);
  const row = (what: string, of: (run: GrowthRun) => number, digits = 0) => [
    what,
    ...runs.map((run) => number(of(run), digits)),
  ];
  const bytes = (of: (storage: Storage) => number) => (run: GrowthRun) =>
    of(run.storage) / run.answers;
  const indexBytes = (storage: Storage, name: string) =>
    storage.indexes.find((index) => index.name === name)!.bytes;
  const rows = [
    row('generated in seconds', ({ seedSeconds }) => seedSeconds),
    row('database, MB', ({ storage }) => storage.database / megabyte),
    row(
      'bytes an answer: all',
      bytes(({ database }) => database),
    ),
    row(
      'its row',
      bytes(({ responses }) => responses),
    ),
    row(
      'its indexes',
      bytes(({ indexes }) => indexes.reduce((sum, index) => sum + index.bytes, 0)),
    ),
    ...names.map((name) =>
      row(
        `  ${name}`,
        bytes((storage) => indexBytes(storage, name)),
        1,
      ),
    ),
    row(
      'contacts and their indexes',
      bytes(({ contacts }) => contacts),
    ),
    row(
      'tallies',
      bytes(({ tallies }) => tallies),
      1,
    ),
  ];
  return table(['', ...runs.map(({ answers }) => number(answers))], rows);
}

export function severalTable(runs: readonly GrowthRun[]): string[] {
  const rows = runs.flatMap(({ answers, several }) =>
    several.flatMap(({ processes, pooler, costs }) =>
      costs.map((cost) => [
        cost.name,
        number(answers),
        String(processes),
        pooler,
        `${number(cost.perSecond)}/s`,
        p50(cost),
        number(cost.us.service),
        number(cost.us.postgres),
      ]),
    ),
  );
  const heads = ['', 'answers', 'processes', 'pooler', 'rate', 'p50 ms'];
  return table([...heads, 'service CPU µs', 'Postgres CPU µs'], rows);
}
