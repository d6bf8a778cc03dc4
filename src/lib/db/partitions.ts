import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isDatabaseAway, isDatabaseFull } from './db.ts';
import {
  dropPartition,
  listPartitions,
  makePartition,
  partitionsNow,
  timeOf,
} from './partition-changes.ts';
import {
  isOver,
  type PartitionedTable,
  type Stretch,
  stretchesAhead,
} from './partition-stretches.ts';

const triesOfChange = 5;
const pauseMs = 1000;

export type PartitionRound = {
  made: string[];
  dropped: string[];
  /** Why something is left for the next round. */
  complaints: string[];
};

type RoundOptions = {
  tries?: number;
  /** Whether partitions that are too old are dropped. */
  drops?: boolean;
  /** The time of the database, unless a test has another. */
  now?: Date;
};

/**
 * Makes the partitions of a table that its next rows need, and drops those whose rows are all too old. A row whose
 * stretch has no partition goes to the default one, so that a round that fails refuses no row. Any number of processes
 * may do it at once: each change is made by one of them.
 */
export async function keepPartitions(
  db: Db,
  divided: PartitionedTable,
  { tries = triesOfChange, drops = true, now }: RoundOptions = {},
): Promise<PartitionRound> {
  const time = now ?? (await timeOf(db));
  const present = await listPartitions(db, divided);
  const names = new Set(present.map(({ name }) => name));
  const round: PartitionRound = { made: [], dropped: [], complaints: [] };
  for (const stretch of stretchesAhead(divided, time)) {
    if (names.has(stretch.name)) continue;
    const outcome = await tryChange(() => makePartition(db, divided, stretch), tries);
    note(round, 'made', stretch, outcome);
  }
  for (const stretch of drops ? present.filter((each) => isOver(divided, each, time)) : []) {
    const outcome = await tryChange(() => dropPartition(db, divided, stretch), tries);
    note(round, 'dropped', stretch, outcome);
  }
  return round;
}

/** The tables that lack a partition which their next rows need, found by one statement. */
export async function listLacking(db: Db, tables: readonly PartitionedTable[]) {
  const { now, names } = await partitionsNow(db, tables);
  const present = new Set(names);
  return tables.filter((divided) =>
    stretchesAhead(divided, now).some(({ name }) => !present.has(name)),
  );
}

type Outcome = boolean | string;

function note(
  round: PartitionRound,
  kind: 'made' | 'dropped',
  { name }: Stretch,
  outcome: Outcome,
) {
  if (outcome === true) round[kind].push(name);
  if (typeof outcome === 'string') {
    round.complaints.push(`the partition ${name} cannot be ${kind} now: ${outcome}`);
  }
}

const lockedByOthers = '55P03';
const deadlock = '40P01';
const passing = new Set([lockedByOthers, deadlock]);
/** Rows go to the default partition meanwhile, and old ones are deleted there. */
const meanings: Readonly<Record<string, string>> = {
  [lockedByOthers]: 'other transactions hold the table',
  '42501':
    'the database user does not own the table or may not create tables; migrate as the user that owns them',
  '57014': 'it takes longer than two seconds, in which the table could not be read',
};

/**
 * The outcome of a change, or the sentence that says why Postgres refuses it now. A start goes on without it; only a
 * database that is away ends it.
 */
async function tryChange(change: () => Promise<boolean>, tries: number): Promise<Outcome> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await change();
    } catch (error) {
      const { name, code = '', message } = error as Error & { code?: string };
      const isRefused =
        name === 'PostgresError' && (isDatabaseFull(error) || !isDatabaseAway(error));
      if (!isRefused) throw error;
      if (!passing.has(code) || left <= 0) return meanings[code] ?? message;
      await sleep(pauseMs);
    }
  }
}
