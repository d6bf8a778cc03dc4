import { recordAct, type Writer } from '../audit/acts.ts';
import { addressErased, isErasedAddress } from '../contacts/erase.ts';
import { markBlocked, markUnblocked } from '../contacts/queries.ts';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { holdOffErasures } from '../surveys/queries.ts';
import {
  endSuppression,
  insertSuppressions,
  listSuppressionKinds,
  lockSuppression,
  type NewSuppression,
  type Subscriber,
  type Suppression,
} from './queries.ts';

type Tools = { db: Db };

export async function unsubscribe({ db }: Tools, { org_id: orgId, email }: Subscriber) {
  const address = { orgId, email: addressKey(email) };
  await inTransaction(db, (tx) => suppress(tx, address, { kind: 'unsubscribed', detail: null }));
}

/** A bounced address stays suppressed. */
export async function resubscribe({ db }: Tools, { org_id: orgId, email }: Subscriber) {
  await inTransaction(db, async (tx) => {
    const suppression = await lockSuppression(tx, orgId, { unsubscribed: addressKey(email) });
    if (suppression) await end(tx, orgId, suppression, { lifted_by: null, consent: null });
  });
}

/** Members and keys cannot lift a person's own unsubscribe. */
export const isOwnUnsubscribe = ({ kind, by_hand }: Pick<Suppression, 'kind' | 'by_hand'>) =>
  kind === 'unsubscribed' && !by_hand;

export async function liftSuppression({ db }: Tools, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const suppression = await lockSuppression(tx, writer.orgId, { id });
    if (!suppression) throw notFound('suppression');
    if (isOwnUnsubscribe(suppression)) {
      throw new Refusal(
        'forbidden',
        'this person unsubscribed: only they can undo it, or an owner who records their renewed consent in the app',
        { code: 'own_unsubscribe' },
      );
    }
    await end(tx, writer.orgId, suppression, { lifted_by: writer.actor.name, consent: null });
    const target = { kind: 'suppression', id };
    await recordAct(tx, { ...writer, act: 'suppression.removed', target });
  });
}

/** Lifts an unsubscribe after the person has agreed again. The timeline shows `consent`. */
export async function recordConsent(
  { db }: Tools,
  owner: Writer,
  { email, consent }: { email: string; consent: string },
) {
  await inTransaction(db, async (tx) => {
    const suppression = await lockSuppression(tx, owner.orgId, { unsubscribed: addressKey(email) });
    if (!suppression) throw notFound('suppression');
    await end(tx, owner.orgId, suppression, { lifted_by: owner.actor.name, consent });
    const target = { kind: 'suppression', id: suppression.id };
    await recordAct(tx, { ...owner, act: 'consent.recorded', target });
  });
}

/** Blocks an address until a member unblocks it. Idempotent. */
export async function suppressByHand({ db }: Tools, { orgId, actor }: Writer, email: string) {
  await inTransaction(db, async (tx) => {
    const address = { orgId, email: addressKey(email) };
    const reason = { kind: 'unsubscribed', by_hand: true, detail: null } as const;
    const isStored = await suppress(tx, address, reason);
    if (!isStored) throw addressErased();
    await recordAct(tx, { orgId, actor, act: 'suppression.added' });
  });
}

/** Returns false for an erased person: nothing is stored, because the hash already blocks the address. */
export async function suppress(
  tx: Sql,
  { orgId, email }: { orgId: string; email: string },
  reason: { kind: 'unsubscribed' | 'bounced'; by_hand?: boolean; detail: string | null },
): Promise<boolean> {
  await holdOffErasures(tx, orgId);
  if (await isErasedAddress(tx, orgId, email)) return false;
  const suppression = { email, ...reason };
  await insertSuppressions(tx, orgId, [suppression]);
  await markBlocked(tx, orgId, [suppression]);
  return true;
}

export async function suppressMany(
  tx: Sql,
  orgId: string,
  suppressions: readonly NewSuppression[],
) {
  const added = await insertSuppressions(tx, orgId, suppressions);
  await markBlocked(tx, orgId, added);
  return added;
}

async function end(
  tx: Sql,
  orgId: string,
  suppression: Suppression,
  by: { lifted_by: string | null; consent: string | null },
) {
  const { email } = suppression;
  await endSuppression(tx, orgId, suppression, by);
  const kinds = await listSuppressionKinds(tx, orgId, email);
  if (kinds.includes('unsubscribed')) return;
  await markUnblocked(tx, { orgId, email, bounced: kinds.includes('bounced') });
}
