import type { Sql } from './db.ts';

/** A table that is divided by time into partitions, each of as many days. */
export type PartitionedTable = {
  table: string;
  /** The column that divides it, which begins with or is a time. */
  column: string;
  /** What makes a bound of a time: a type, or a function of the database. */
  bound: 'timestamptz' | 'date' | 'least_id_at';
  stretchDays: number;
  /** For so many days a row must stay. */
  keptDays: number;
  /**
   * Copies rows that stay although their partition goes into the table `kept`. They are inserted again when the
   * partition is gone, into the default one. The partition is locked against writes.
   */
  keep?: (tx: Sql, going: GoingPartition) => Promise<void>;
};

export type GoingPartition = { partition: string; kept: string };

/** The days of one partition, by their first day and the first day after them, UTC. */
export type Stretch = { name: string; from: Date; to: Date };

const dayMs = 86_400_000;

/** The stretch that a time lies in. Stretches are counted from 1970, so that each process finds the same. */
export function stretchAt(divided: PartitionedTable, time: Date): Stretch {
  const lengthMs = divided.stretchDays * dayMs;
  return stretchFrom(divided, new Date(Math.floor(time.getTime() / lengthMs) * lengthMs));
}

/** The stretches that must have a partition: the one of now and the next one. */
export function stretchesAhead(divided: PartitionedTable, now: Date): Stretch[] {
  const current = stretchAt(divided, now);
  return [current, stretchFrom(divided, current.to)];
}

/** The stretches of all rows that are kept, for a table that is filled from a backup. */
export function stretchesKept(divided: PartitionedTable, now: Date): Stretch[] {
  const [current, next] = stretchesAhead(divided, now) as [Stretch, Stretch];
  const stretches = [next, current];
  while (!isOver(divided, stretches.at(-1)!, now)) {
    const before = new Date(stretches.at(-1)!.from.getTime() - 1);
    stretches.push(stretchAt(divided, before));
  }
  return stretches.slice(0, -1).reverse();
}

/** Rows of this time and later ones must stay. */
export const keptSince = ({ keptDays }: PartitionedTable, now: Date) =>
  new Date(now.getTime() - keptDays * dayMs);

/** Whether every row of a stretch is older than rows are kept. */
export const isOver = (divided: PartitionedTable, { to }: Stretch, now: Date) =>
  to <= keptSince(divided, now);

/** The stretch of a partition by its name; undefined of any other table. */
export function stretchNamed(divided: PartitionedTable, name: string): Stretch | undefined {
  const day = name.slice(divided.table.length + 1).replaceAll('_', '-');
  const from = new Date(/^\d{4}-\d\d-\d\d$/.test(day) ? `${day}T00:00:00Z` : Number.NaN);
  if (Number.isNaN(from.getTime())) return undefined;
  const stretch = stretchFrom(divided, from);
  return stretch.name === name ? stretch : undefined;
}

function stretchFrom({ table, stretchDays }: PartitionedTable, from: Date): Stretch {
  const day = from.toISOString().slice(0, 10).replaceAll('-', '_');
  return { name: `${table}_${day}`, from, to: new Date(from.getTime() + stretchDays * dayMs) };
}
