import { enqueue, type JobPayloads } from '../jobs.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import {
  deleteOldNotifications,
  insertAssigned,
  insertDigests,
  insertNotifications,
  insertSlackDigests,
  insertSlackNotifications,
  type NewNotification,
} from './sweep.queries.ts';

type SweepTools = { db: Db };

/** Notices what occurred: by the clock, so that no answer waits for it. */
export async function sweepNotifications({ db }: SweepTools) {
  await withMails(db, insertNotifications);
  await withPosts(db, insertSlackNotifications);
}

export async function sweepDigests({ db }: SweepTools, now = new Date()) {
  await withMails(db, (tx) => insertDigests(tx, now));
  await withPosts(db, (tx) => insertSlackDigests(tx, now));
}

export async function notifyAssigned(
  { db }: SweepTools,
  { org_id, member_id, response_id }: JobPayloads['notifications.assigned'],
) {
  const assigned = { orgId: org_id, memberId: member_id, responseId: response_id };
  await withMails(db, (tx) => insertAssigned(tx, assigned));
}

type Insert = (tx: Sql) => Promise<readonly NewNotification[]>;

/** Enqueues the mail of each new notification in the transaction that inserts it. */
const withMails = (db: Db, insert: Insert) =>
  inTransaction(db, async (tx) => {
    const inserted = await insert(tx);
    await enqueue(
      tx,
      inserted.map((payload) => ({ task: 'notifications.mail', payload })),
    );
  });

const withPosts = (db: Db, insert: Insert) =>
  inTransaction(db, async (tx) => {
    const inserted = await insert(tx);
    await enqueue(
      tx,
      inserted.map((row) => ({ task: 'notifications.post', payload: { ...row, tries: 0 } })),
    );
  });

const batch = 1000;

export async function cleanUpNotifications({ db }: { db: Db }) {
  while ((await deleteOldNotifications(db, batch)) === batch);
}
