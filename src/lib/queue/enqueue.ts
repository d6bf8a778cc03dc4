import { runMigrations } from 'graphile-worker';
import type { Db, Sql } from '../db/db.ts';
import { withSchemaLock } from '../db/migrate.ts';
import { type QueueAddress, urlOf } from './connections.ts';

/** A crash costs an attempt. The queue's backoff spreads ten attempts over some hours. */
export const maxAttempts = 10;

export type JobOf<Payloads> = {
  [Name in keyof Payloads & string]: {
    task: Name;
    payload: Payloads[Name];
    runAt?: Date;
    /** The span that causes the job, stored in the payload as `_trace`. */
    traceparent?: string | null;
  };
}[keyof Payloads & string];

/**
 * Adds jobs in the caller's transaction, so they exist if and only if it commits. NOTIFY takes a database-wide lock at
 * commit, so frequent events, such as responses, must not enqueue.
 */
export async function enqueueJobs<Payloads>(sql: Sql, jobs: readonly JobOf<Payloads>[]) {
  if (jobs.length === 0) return;
  const rows = jobs.map(({ task, payload, runAt, traceparent }) => ({
    task,
    payload: { ...payload, ...(traceparent && { _trace: traceparent, _caused_at: Date.now() }) },
    run_at: runAt ?? null,
  }));
  await addJobs(sql, JSON.stringify(rows));
}

/** `jobs` is a JSON array of objects with `task`, `payload` and `run_at`. */
export async function addJobs(sql: Sql, jobs: string) {
  await sql`
    select
    from graphile_worker.add_jobs(array(
      select (task, payload, null, run_at, ${maxAttempts}::smallint, null, 0::smallint, null)
               ::graphile_worker.job_spec
      from json_to_recordset(${jobs}::text::json) as job (task text, payload json, run_at timestamptz)
    ))`;
}

/** Creates the schema of the queue. The runner upgrades it. */
export async function prepareQueue(db: Db, address: QueueAddress) {
  if (await hasQueue(db)) return;
  await withSchemaLock(db, async (holder) => {
    if (!(await hasQueue(holder))) await runMigrations({ connectionString: await urlOf(address) });
  });
}

async function hasQueue(sql: Sql): Promise<boolean> {
  const [schema] = await sql`select where to_regclass('graphile_worker.migrations') is not null`;
  return schema !== undefined;
}
