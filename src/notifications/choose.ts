import type { Actor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import type { Db } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { type NotificationChoices, removeChoice, saveChoices } from './queries.ts';
import type { StopWish } from './stop-link.ts';

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

/** Stops one kind for a member, by the link in its mails. A second time changes nothing. */
export async function stopNotification(db: Db, wish: StopWish, name: string) {
  const { orgId, memberId, kind } = wish;
  await inTransaction(db, async (tx) => {
    const choices = await removeChoice(tx, wish);
    if (!choices) return;
    const actor: Actor = { kind: 'member', id: memberId, name };
    const target = { kind: 'member', id: memberId };
    const details = { ...choices, stopped: kind };
    await recordAct(tx, { orgId, actor, act: 'notifications.changed', target, details });
  });
}
