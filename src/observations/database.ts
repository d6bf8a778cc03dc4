import { type Db, one } from '../lib/db/db.ts';
import { listSteps, type StepState } from '../lib/db/migrate-step-state.ts';
import { inReadTransaction } from '../lib/db/transaction.ts';
import type { Reading, Readings } from '../lib/metrics/recorder.ts';
import { analyzeTask } from '../summaries/comment-reader.ts';
import { tasks } from './instruments.ts';
import {
  countOutbox,
  countPendingDeliveries,
  countPendingMails,
  countWebhooks,
  limitTime,
  listWaiting,
  type WaitingJobs,
} from './queries.ts';

const longestStatementMs = 1000;

/** What waits in the database, the same for all processes. One round trip. */
export async function readDatabase(db: Db): Promise<Readings> {
  return await inReadTransaction(db, async (tx) => {
    const [, waiting, outbox, webhooks, mails, deliveries, steps] = await Promise.all([
      limitTime(tx, longestStatementMs),
      listWaiting(tx, analyzeTask),
      countOutbox(tx),
      countWebhooks(tx),
      countPendingMails(tx),
      countPendingDeliveries(tx),
      listSteps(tx),
    ]);
    const [webhook, mail] = [one(deliveries), one(mails)];
    return {
      ...readSteps(steps),
      askback_queue_jobs: byTask(waiting, ({ jobs }) => jobs),
      askback_queue_oldest_seconds: byTask(waiting, ({ oldest_seconds }) => oldest_seconds),
      askback_outbox_rows: [{ labels: {}, value: one(outbox).rows }],
      askback_webhooks: by('state', one(webhooks)),
      askback_pending_deliveries: by('channel', { webhook: webhook.pending, mail: mail.pending }),
      askback_pending_oldest_seconds: by('channel', {
        webhook: webhook.oldest_seconds,
        mail: mail.oldest_seconds,
      }),
    };
  });
}

function readSteps(steps: readonly StepState[]) {
  const open = steps.filter(({ ended_at }) => ended_at === null);
  const { rows_done: done = 0, rows_estimated, failures = 0 } = open[0] ?? {};
  return {
    askback_migration_step_pending: [{ labels: {}, value: open.length }],
    askback_migration_step_rows: by('state', { done, estimated: rows_estimated ?? 0 }),
    askback_migration_step_failures: [{ labels: {}, value: failures }],
  };
}

/** A task without a row has no jobs waiting. */
function byTask(waiting: readonly WaitingJobs[], value: (row: WaitingJobs) => number): Reading[] {
  const found = new Map(waiting.map((row) => [row.task, value(row)]));
  return tasks.map((task) => ({ labels: { task }, value: found.get(task) ?? 0 }));
}

export const by = (label: string, values: Readonly<Record<string, number>>): Reading[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
