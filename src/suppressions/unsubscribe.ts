import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { addressErased, isErasedAddress } from '../contacts/erased.queries.ts';
import { markBlocked, markManyBlocked, markUnblocked } from '../contacts/subscription.queries.ts';
import { notFound } from '../errors.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { holdOffErasures } from '../surveys/queries.ts';
import {
  deleteSuppression,
  deleteUnsubscribed,
  insertSuppression,
  insertSuppressions,
  type KnownSuppression,
  listKinds,
  type Subscriber,
} from './queries.ts';

type UnsubscribeTools = { db: Db };
type OrgAddress = { orgId: string; email: string };

/** From now on no survey of the organization goes to the address. Doing it again changes nothing. */
export async function unsubscribe({ db }: UnsubscribeTools, subscriber: Subscriber) {
  const address = addressOf(subscriber);
  await inTransaction(db, (tx) => suppress(tx, address, { kind: 'unsubscribed', detail: null }));
}

/** Undoes it. An address whose mailbox does not exist still gets no mail. */
export async function resubscribe({ db }: UnsubscribeTools, subscriber: Subscriber) {
  const { orgId, email } = addressOf(subscriber);
  await inTransaction(db, async (tx) => {
    if (await deleteUnsubscribed(tx, orgId, email)) await release(tx, { orgId, email });
  });
}

/** Lifts one suppression of the organization, whatever its kind. */
export async function liftSuppression({ db }: UnsubscribeTools, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const freed = await deleteSuppression(tx, writer.orgId, id);
    if (!freed) throw notFound('suppression');
    await release(tx, { orgId: writer.orgId, email: freed.email });
    const target = { kind: 'suppression', id };
    await recordAct(tx, { ...writer, act: 'suppression.removed', target });
  });
}

/** Keeps an address from being mailed, as if its owner had asked for it. Doing it again changes nothing. */
export async function suppressByHand(
  { db }: UnsubscribeTools,
  { orgId, actor }: Writer,
  email: string,
) {
  await inTransaction(db, async (tx) => {
    const address = { orgId, email: addressKey(email) };
    const isStored = await suppress(tx, address, { kind: 'unsubscribed', detail: null });
    if (!isStored) throw addressErased();
    await recordAct(tx, { orgId, actor, act: 'suppression.added' });
  });
}

type SuppressionReason = { kind: 'unsubscribed' | 'bounced'; detail: string | null };

/**
 * Returns false for the address of a person who was erased, of which nothing is stored: its hash keeps it from being
 * mailed already.
 */
export async function suppress(
  tx: Sql,
  address: OrgAddress,
  { kind, detail }: SuppressionReason,
): Promise<boolean> {
  await holdOffErasures(tx, address.orgId);
  if (await isErasedAddress(tx, address.orgId, address.email)) return false;
  await insertSuppression(tx, { ...address, kind, detail });
  await markBlocked(tx, address, { status: kind, reason: detail });
  return true;
}

/** Takes over addresses that another service mails no more; returns those that are new. */
export async function suppressMany(
  tx: Sql,
  orgId: string,
  suppressions: readonly KnownSuppression[],
) {
  const added = await insertSuppressions(tx, orgId, suppressions);
  await markManyBlocked(tx, orgId, added);
  return added;
}

async function release(tx: Sql, address: OrgAddress) {
  const kinds = await listKinds(tx, address.orgId, address.email);
  if (kinds.includes('unsubscribed')) return;
  await markUnblocked(tx, { ...address, bounced: kinds.includes('bounced') });
}

const addressOf = ({ org_id, email }: Subscriber): OrgAddress => ({
  orgId: org_id,
  email: addressKey(email),
});
