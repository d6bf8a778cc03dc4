import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { type NotificationChoices, saveChoices } from './queries.ts';

export type ChoosingMember = { orgId: string; memberId: string; actor: Actor };

/** A member of any role decides what it is notified of. */
export async function chooseNotifications(
  db: Db,
  member: ChoosingMember,
  choices: NotificationChoices,
) {
  await inTransaction(db, async (tx) => {
    await saveChoices(tx, member, choices);
    const { orgId, actor, memberId } = member;
    const { events, digest } = choices;
    const target = { kind: 'member', id: memberId };
    const details = { events, digest };
    await recordAct(tx, { orgId, actor, act: 'notifications.changed', target, details });
  });
}
