import { markBlocked, markUnblocked } from '../contacts/subscription.queries.ts';
import { notFound } from '../errors.ts';
import type { WriteKey } from '../keys/authenticate.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { addressKey } from '../lib/smtp/address.ts';
import {
  deleteSuppression,
  deleteUnsubscribed,
  insertSuppression,
  listKinds,
  type Subscriber,
} from './queries.ts';

type Tools = { db: Db };
type Who = { orgId: string; email: string };

/** From now on no survey of the organization goes to the address. Doing it again changes nothing. */
export async function unsubscribe({ db }: Tools, subscriber: Subscriber) {
  const who = whoIs(subscriber);
  await inTransaction(db, (tx) => suppress(tx, who, { kind: 'unsubscribed', detail: null }));
}

/** Undoes it. An address whose mailbox does not exist still gets no mail. */
export async function resubscribe({ db }: Tools, subscriber: Subscriber) {
  const { orgId, email } = whoIs(subscriber);
  await inTransaction(db, async (tx) => {
    if (await deleteUnsubscribed(tx, orgId, email)) await release(tx, { orgId, email });
  });
}

/** Lifts one suppression of the key's organization, whatever its kind. */
export const liftSuppression = (tools: Tools, key: WriteKey, id: string) =>
  removeSuppression(tools, key.org_id, id);

/** The same for an organization, without a key. */
export async function removeSuppression({ db }: Tools, orgId: string, id: string) {
  await inTransaction(db, async (tx) => {
    const freed = await deleteSuppression(tx, orgId, id);
    if (!freed) throw notFound('suppression');
    await release(tx, { orgId, email: freed.email });
  });
}

type Why = { kind: 'unsubscribed' | 'bounced'; detail: string | null };

export async function suppress(tx: Sql, who: Who, { kind, detail }: Why) {
  await insertSuppression(tx, { ...who, kind, detail });
  await markBlocked(tx, who, { status: kind, reason: detail });
}

async function release(tx: Sql, who: Who) {
  const kinds = await listKinds(tx, who.orgId, who.email);
  if (kinds.includes('unsubscribed')) return;
  await markUnblocked(tx, { ...who, bounced: kinds.includes('bounced') });
}

const whoIs = ({ org_id, email }: Subscriber): Who => ({
  orgId: org_id,
  email: addressKey(email),
});
