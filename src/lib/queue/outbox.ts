import { json, type Sql } from '../db/db.ts';

/** A job to be written, of a table that maps the names of jobs to their payloads. */
export type JobOf<Payloads> = {
  [Name in keyof Payloads & string]: {
    task: Name;
    payload: Payloads[Name];
    runAt?: Date;
    /** The span that causes the job. It travels in the payload, as `_trace`, with its time. */
    traceparent?: string | null;
  };
}[keyof Payloads & string];

type EachJob<Name> = { task: Name; traceparent?: string | null };

/**
 * Writes jobs in the caller's transaction: they exist if, and only if, their cause was committed.
 * The pump hands them to the queue after that. Never `add_job` here: its notification takes a
 * database-wide lock at commit.
 */
export function createOutbox<Payloads>() {
  async function enqueue(sql: Sql, jobs: readonly JobOf<Payloads>[]) {
    if (jobs.length === 0) return;
    const rows = jobs.map(({ task, payload, runAt, traceparent }) => ({
      task,
      payload: json(sql, { ...payload, ...traceOf(traceparent) }),
      run_at: runAt ?? null,
    }));
    await sql`insert into outbox ${sql(rows, 'task', 'payload', 'run_at')}`;
  }

  /** The same for every row that a statement finds: the insert, from a select of one payload a row. */
  function enqueueEach(
    sql: Sql,
    { task, traceparent }: EachJob<keyof Payloads & string>,
    payloads: ReturnType<Sql>,
  ) {
    const trace = traceOf(traceparent);
    const traced = trace
      ? sql`payload::jsonb || ${JSON.stringify(trace)}::text::jsonb`
      : sql`payload`;
    return sql`
      insert into outbox (task, payload)
      select ${task}, ${traced}
      from (${payloads}) as each (payload)`;
  }

  /** The same from a select of payloads with the span that causes each. */
  function enqueueEachTraced(sql: Sql, task: keyof Payloads & string, payloads: ReturnType<Sql>) {
    return sql`
      insert into outbox (task, payload)
      select ${task},
             case when traceparent is null then payload
               else payload || jsonb_build_object('_trace', traceparent, '_caused_at', ${Date.now()}::bigint) end
      from (${payloads}) as each (payload, traceparent)`;
  }

  return { enqueue, enqueueEach, enqueueEachTraced };
}

const traceOf = (traceparent: string | null | undefined) =>
  traceparent ? { _trace: traceparent, _caused_at: Date.now() } : undefined;
