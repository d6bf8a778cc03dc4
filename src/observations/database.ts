import { type Db, one } from '../lib/db/db.ts';
import { inReadTransaction } from '../lib/db/transaction.ts';
import type { Reading, Readings } from '../lib/metrics/recorder.ts';
import { analyzeTask } from '../summaries/comment-reader.ts';
import { tasks } from './instruments.ts';
import {
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
    const [, waiting, webhooks, mails, deliveries] = await Promise.all([
      limitTime(tx, longestStatementMs),
      listWaiting(tx, analyzeTask),
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

/** A task without a row has no jobs waiting. */
function byTask(waiting: readonly WaitingJobs[], value: (row: WaitingJobs) => number): Reading[] {
  const found = new Map(waiting.map((row) => [row.task, value(row)]));
  return tasks.map((task) => ({ labels: { task }, value: found.get(task) ?? 0 }));
}

export const by = (label: string, values: Readonly<Record<string, number>>): Reading[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
