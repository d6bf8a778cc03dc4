import { json, type Sql } from '../db/db.ts';

/** Every job of the service and what its payload must be. */
export type Jobs = {
  'keys.expire': Record<string, never>;
  'surveys.fold_tallies': Record<string, never>;
  'webhooks.deliver': { org_id: string; webhook_id: string };
  'webhooks.tell_deactivation': { org_id: string; webhook_id: string };
  'webhooks.retire': Record<string, never>;
  'responses.forget_openings': Record<string, never>;
  'summaries.analyze': {
    org_id: string;
    response_id: string;
    tries: number;
    asked_at?: string | undefined;
  };
  'summaries.month': { org_id: string; tries: number };
  'summaries.monthly': Record<string, never>;
  'sends.forget_mailbox': Record<string, never>;
  'sends.take_up_left': Record<string, never>;
  'sends.mail': { org_id: string; mail_ids: string[] };
};

export type NewJob = {
  [Task in keyof Jobs]: {
    task: Task;
    payload: Jobs[Task];
    runAt?: Date;
    /** The span that causes the job. It travels in the payload, as `_trace`, with its time. */
    traceparent?: string | null;
  };
}[keyof Jobs];

/**
 * Writes jobs in the caller's transaction: they exist if, and only if, their cause was committed.
 * The pump hands them to the queue after that. Never `add_job` here: its notification takes a
 * database-wide lock at commit.
 */
export async function enqueue(sql: Sql, jobs: readonly NewJob[]) {
  if (jobs.length === 0) return;
  const rows = jobs.map(({ task, payload, runAt, traceparent }) => ({
    task,
    payload: json(sql, { ...payload, ...traceOf(traceparent) }),
    run_at: runAt ?? null,
  }));
  await sql`insert into outbox ${sql(rows, 'task', 'payload', 'run_at')}`;
}

type Each = { task: keyof Jobs; traceparent?: string | null };

/** The same for as many rows as a statement finds: the insert, from a select of one payload a row. */
export function enqueueEach(sql: Sql, { task, traceparent }: Each, payloads: ReturnType<Sql>) {
  const trace = traceOf(traceparent);
  const traced = trace
    ? sql`payload::jsonb || ${JSON.stringify(trace)}::text::jsonb`
    : sql`payload`;
  return sql`
    insert into outbox (task, payload)
    select ${task}, ${traced}
    from (${payloads}) as each (payload)`;
}

const traceOf = (traceparent: string | null | undefined) =>
  traceparent ? { _trace: traceparent, _caused_at: Date.now() } : undefined;
