import type { JobPayloads } from '../jobs.ts';
import type { Db } from '../lib/db/db.ts';
import {
  deleteOldNotifications,
  insertAssigned,
  insertDigests,
  insertNotifications,
  insertSlackDigests,
  insertSlackNotifications,
} from './sweep.queries.ts';

type SweepTools = { db: Db; pump: () => void };

/** Notices what occurred: by the clock, so that no answer waits for it. */
export async function sweepNotifications({ db, pump }: SweepTools) {
  await insertNotifications(db);
  await insertSlackNotifications(db);
  pump();
}

export async function sweepDigests({ db, pump }: SweepTools, now = new Date()) {
  await insertDigests(db, now);
  await insertSlackDigests(db, now);
  pump();
}

export async function notifyAssigned(
  { db, pump }: SweepTools,
  { org_id, member_id, response_id }: JobPayloads['notifications.assigned'],
) {
  await insertAssigned(db, { orgId: org_id, memberId: member_id, responseId: response_id });
  pump();
}

const batch = 1000;

export async function cleanUpNotifications({ db }: { db: Db }) {
  while ((await deleteOldNotifications(db, batch)) === batch);
}
