import { type Db, inReadTransaction, one, type Sql } from '../lib/db/db.ts';
import type { Reading, Readings } from '../lib/metrics/recorder.ts';
import { analyzeTask } from '../summaries/comment-reader.ts';
import { tasks } from './instruments.ts';

/** Large tables must not hold a connection for long. */
const maxStatementMs = 1000;

/** Gauges from the database, the same in all processes. One round trip. */
export async function readDatabase(db: Db): Promise<Readings> {
  return await inReadTransaction(db, async (tx) => {
    const [, waiting, webhooks, mails, deliveries] = await Promise.all([
      tx`select set_config('statement_timeout', ${`${maxStatementMs}ms`}, true)`,
      listWaiting(tx),
      countWebhooks(tx),
      countPendingMails(tx),
      countPendingDeliveries(tx),
    ]);
    const [webhook, mail] = [one(deliveries), one(mails)];
    return {
      askback_queue_jobs: byTask(waiting, ({ jobs }) => jobs),
      askback_queue_oldest_seconds: byTask(waiting, ({ oldest_seconds }) => oldest_seconds),
      askback_webhooks: by('state', one(webhooks)),
      askback_pending_deliveries: by('channel', { webhook: webhook.pending, mail: mail.pending }),
      askback_pending_oldest_seconds: by('channel', {
        webhook: webhook.oldest_seconds,
        mail: mail.oldest_seconds,
      }),
    };
  });
}

function byTask(waiting: readonly WaitingJobs[], value: (row: WaitingJobs) => number): Reading[] {
  const values = new Map(waiting.map((row) => [row.task, value(row)]));
  return tasks.map((task) => ({ labels: { task }, value: values.get(task) ?? 0 }));
}

export const by = (label: string, values: Readonly<Record<string, number>>): Reading[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));

type WaitingJobs = { task: string; jobs: number; oldest_seconds: number };

/**
 * Reads the private table of the queue, because its view does not use the index on available jobs. Comments waiting for
 * analysis are counted as a separate task.
 */
async function listWaiting(sql: Sql) {
  return await sql<WaitingJobs[]>`
    -- all organizations
    select t.identifier as task, j.jobs, j.oldest_seconds
    from (
      select task_id, count(*)::int as jobs,
             greatest(extract(epoch from now() - min(run_at)), 0)::float8 as oldest_seconds
      from graphile_worker._private_jobs
      where is_available
      group by task_id
    ) j
    join graphile_worker._private_tasks t on t.id = j.task_id
    union all
    select ${analyzeTask}, count(*)::int,
           greatest(extract(epoch from now() - min(due_at)), 0)::float8
    from waiting_analyses
    where claimed_by is null`;
}

type Pending = { pending: number; oldest_seconds: number };

/** A retry may be hours away, so its age counts from when it is due. */
async function countPendingDeliveries(sql: Sql) {
  return await sql<Pending[]>`
    -- all organizations
    select count(*)::int as pending,
           greatest(extract(epoch from now() - min(
             case when attempts = 0 then time_of(id) else next_attempt_at end)), 0)::float8 as oldest_seconds
    from pending_deliveries`;
}

/**
 * Counts the mails of unfinished jobs: an index on unfinished mails would cost three more writes per mail. The age of
 * postponed mails counts from when they were first postponed.
 */
async function countPendingMails(sql: Sql) {
  return await sql<Pending[]>`
    select coalesce(sum(json_array_length(payload -> 'mail_ids')), 0)::int as pending,
           coalesce(extract(epoch from now() - min(
             coalesce((payload ->> 'stuck_since')::timestamptz, created_at))), 0)::float8 as oldest_seconds
    from (
      select payload, created_at
      from graphile_worker._private_jobs
      where task_id = (
        select id from graphile_worker._private_tasks where identifier = 'sends.mail'
      )
    ) job`;
}

async function countWebhooks(sql: Sql) {
  return await sql<{ active: number; inactive: number }[]>`
    -- all organizations
    select (count(*) filter (where active))::int as active,
           (count(*) filter (where not active))::int as inactive
    from webhooks`;
}
