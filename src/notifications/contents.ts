import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { OwnerOf } from '../sessions/session.ts';
import { saveContents } from './contents.queries.ts';
import type { NotificationContents } from './facts.queries.ts';

/** Decides what mails and posts of the organization may show of a response. */
export async function setContents(
  db: Db,
  { orgId, actor }: Pick<OwnerOf, 'orgId' | 'actor'>,
  contents: NotificationContents,
) {
  await inTransaction(db, async (tx) => {
    await saveContents(tx, orgId, contents);
    const target = { kind: 'organization', id: orgId };
    const details = { ...contents };
    await recordAct(tx, { orgId, actor, act: 'notifications.changed', target, details });
  });
}
