import type { MigrationStep } from './migrate-step-files.ts';

/** One connection, and always the same: it holds the lease, or the lock of migrations. */
export type StepSession = <Row extends object>(
  text: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

export type StepWork = {
  session: StepSession;
  /** Version, machine and process, for the row. */
  worker: string;
};

type Batched = Extract<MigrationStep, { kind: 'batches' }>;
type AtOnce = Exclude<MigrationStep, { kind: 'batches' }>;

export type BatchOutcome = 'more' | 'ended' | 'taken';

/** A batch that takes longer is undone, and tried again with half of the rows. */
const longestBatch = '5s';
/** What waits longer for a row or table lets the others pass, and is tried again. */
const longestLockWait = '2s';

/** Says in the row that the step has begun, and about how many rows there are. */
export async function beginStep({ session, worker }: StepWork, step: MigrationStep) {
  const rows = step.kind === 'batches' ? await estimate(session, step) : 1;
  await session(
    `update migration_steps
     set started_at = coalesce(started_at, clock_timestamp()), worker = $3,
         rows_estimated = coalesce(rows_estimated, $4)
     where name = $1 and sha256 = $2 and ended_at is null`,
    [step.name, step.sha256, worker, rows],
  );
}

/** Null where counting takes too long: the step needs it for nothing but its progress. */
async function estimate(session: StepSession, step: Batched): Promise<number | null> {
  const counted = await inTransaction(session, async () => {
    const [row] = await session<{ rows: string }>(`select rows::text from (${step.estimate}) e`);
    return Number(row?.rows ?? 0);
  }).catch((error: unknown) => {
    if (codeOf(error) === tooLong) return null;
    throw error;
  });
  return counted;
}

/**
 * One batch and how far it came, in one transaction. The row is locked meanwhile and says where to begin: two that
 * work on the same step do nothing twice.
 */
export async function runBatch(
  { session }: StepWork,
  step: Batched,
  most: number,
): Promise<BatchOutcome> {
  return await inTransaction(session, async () => {
    const [found] = await session<{ last_key: string | null }>(
      `select last_key::text from migration_steps
       where name = $1 and sha256 = $2 and ended_at is null
       for update`,
      [step.name, step.sha256],
    );
    if (!found) return 'taken';

    const [done] = await session<{ last_key: string | null; rows: string }>(
      `select last_key::text, rows::text from (${step.batch}) batch`,
      [found.last_key, most],
    );
    const last = done?.last_key ?? null;
    await session(
      `update migration_steps
       set last_key = coalesce($2::text::jsonb, last_key), rows_done = rows_done + $3,
           progressed_at = clock_timestamp(), failures = 0, failure = null, retry_at = null,
           ended_at = case when $2::text is null then clock_timestamp() end
       where name = $1`,
      [step.name, last, Number(done?.rows ?? 0)],
    );
    return last === null ? 'ended' : 'more';
  });
}

/**
 * An index or a constraint, by one statement that takes as long as it takes and that no reader or writer of the table
 * waits for. What an interrupted one has left is removed first; what is there already is not made again.
 */
export async function runAtOnce({ session }: StepWork, step: AtOnce): Promise<void> {
  await session(`select set_config('lock_timeout', '0', false)`);
  if (step.kind === 'constraint' || !(await hasIndex(session, step.index))) {
    await session(step.statement);
  }
  await session(
    `update migration_steps
     set rows_done = 1, progressed_at = clock_timestamp(),
         failures = 0, failure = null, retry_at = null, ended_at = clock_timestamp()
     where name = $1 and sha256 = $2 and ended_at is null`,
    [step.name, step.sha256],
  );
}

async function hasIndex(session: StepSession, index: string): Promise<boolean> {
  const [found] = await session<{ valid: boolean }>(
    `select indisvalid and indisready as valid from pg_index where indexrelid = to_regclass($1)`,
    [index],
  );
  if (found?.valid === false) await session(`drop index concurrently ${index}`);
  return found?.valid ?? false;
}

/** Keeps why a try has failed, and when the next one is: soon, and later each time, up to five minutes. */
export async function recordFailure(
  { session }: StepWork,
  step: MigrationStep,
  error: unknown,
): Promise<void> {
  await session(
    `update migration_steps
     set failures = failures + 1, failure = $3,
         retry_at = clock_timestamp() + least(interval '5 minutes', interval '2 seconds' * 2 ^ least(failures, 10))
     where name = $1 and sha256 = $2 and ended_at is null`,
    [step.name, step.sha256, failureOf(error)],
  );
}

/** In our words: what Postgres says may have the content of a row. */
function failureOf(error: unknown): string {
  const { table_name, table, constraint_name, constraint } = error as Record<string, unknown>;
  const code = codeOf(error);
  if (code === undefined) return error instanceof Error ? error.name : 'an error without a name';
  const reason = reasons[code] ?? `Postgres refused it with the error ${code}`;
  const about = [
    [table_name ?? table, 'table'],
    [constraint_name ?? constraint, 'constraint'],
  ].flatMap(([name, what]) => (name ? [`${what} ${name}`] : []));
  return about.length > 0 ? `${reason} (${about.join(', ')})` : reason;
}

const tooLong = '57014';
const reasons: Record<string, string> = {
  [tooLong]: `a batch of one row takes longer than ${longestBatch}, or it was cancelled`,
  '55P03': 'another transaction holds what it needs',
  '40P01': 'it and another transaction waited for each other',
  '53100': 'the disk of the database is full',
};

/** Whether fewer rows may be what it needs. */
export const tookTooLong = (error: unknown): boolean => codeOf(error) === tooLong;

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

async function inTransaction<T>(session: StepSession, work: () => Promise<T>): Promise<T> {
  await session('begin isolation level read committed');
  try {
    await session(
      `select set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
      [longestBatch, longestLockWait],
    );
    const result = await work();
    await session('commit');
    return result;
  } catch (error) {
    await session('rollback').catch(() => {});
    throw error;
  }
}
