import type { Context } from 'hono';
import { changesOf } from '../audit/acts.ts';
import { orNotFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql, violates } from '../lib/db/db.ts';
import { clientAddress } from '../lib/http/client-address.ts';
import { hashToken, newToken } from '../sessions/session.ts';
import { recordAccountAct } from './account-acts.ts';
import { countProof } from './attempts.ts';
import type { OwnAccount } from './codes.ts';
import { sealedFor } from './invite.ts';
import {
  consumeLink,
  deleteMemberLinks,
  findCredentialsById,
  findLink,
  insertLink,
  lockMember,
} from './queries.ts';

/** Emails and screens tell it in words. */
const validFor = '24 hours';

type RequestTools = { db: Db; secrets: Pick<Secrets, 'seal'> };

/**
 * Mails a link to the new address and replaces earlier links. An address that has an account gets the link too, so that
 * members cannot find out who has an account.
 */
export async function requestEmail(
  { db, secrets }: RequestTools,
  c: Context,
  { memberId, email }: { memberId: string; email: string },
) {
  // Limits how many emails to other people a member can cause.
  await countProof(db, { account: `email of ${memberId}`, address: clientAddress(c) });
  const token = newToken();
  await inTransaction(db, async (tx) => {
    await lockMember(tx, memberId);
    await deleteMemberLinks(tx, memberId, 'email');
    const link = { email, memberId, provesEmail: true, tokenHash: hashToken(token) };
    const linkId = await insertLink(tx, { ...link, kind: 'email', validFor });
    const sealed = secrets.seal(sealedFor(linkId), token).toString('base64');
    const payload = { link_id: linkId, sealed };
    await enqueue(tx, [{ task: 'members.mail_confirmation', payload }]);
  });
}

type OwnLink = { memberId: string; token: string };

/** Returns the new address. The link only works for the member who requested it. */
export async function getNewEmail(sql: Sql, { memberId, token }: OwnLink): Promise<string> {
  const link = await findLink(sql, 'email', hashToken(token));
  if (!link?.email || link.memberId !== memberId) throw linkGone();
  return link.email;
}

/** Changes the address, ends all other links of the member and notifies the previous address. Sessions stay. */
export async function changeEmail(db: Db, { memberId, actor }: OwnAccount, token: string) {
  await inTransaction(db, async (tx) => {
    await lockMember(tx, memberId);
    const link = await consumeLink(tx, 'email', hashToken(token));
    if (!link?.email || link.memberId !== memberId) throw linkGone();
    const member = orNotFound(await findCredentialsById(tx, memberId), 'account');
    await deleteMemberLinks(tx, memberId);
    const { email } = link;
    await tx`
      update members
      set email = ${email}, email_proved_at = now()
      where id = ${memberId}`.catch(refuseTaken);
    const details = { changes: changesOf(member, { email }) };
    const act = { memberId, actor, act: 'member.email_changed', details } as const;
    await recordAccountAct(tx, { ...act, noticeTo: member.email });
  });
}

function refuseTaken(error: unknown): never {
  if (!violates(error, 'members_have_distinct_addresses')) throw error;
  throw new Refusal(
    'conflict',
    'This email already has an account. Sign in with it, or choose another email.',
    { code: 'has_account' },
  );
}

const linkGone = () =>
  new Refusal(
    'gone',
    'This link to confirm an email no longer works: it was used or replaced, a new password was set, 24 hours have passed, or another member requested it.',
  );
