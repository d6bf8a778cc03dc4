import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Context } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { renewProof } from '../sessions/queries.ts';
import type { SignedInMember } from '../sessions/session.ts';
import type { SignInSettings } from '../settings.ts';
import { readProofs } from './account.ts';
import { recordAccountAct } from './account-acts.ts';
import type { OwnAccount } from './codes.ts';
import { lockMember } from './queries.ts';
import { type SignInTools, startMemberSession } from './sign-in.ts';

export async function signInByPasskey(
  { db, publicUrl }: SignInTools,
  c: Context,
  proved: ProvedPasskey,
): Promise<boolean> {
  return await inTransaction(db, async (tx) => {
    if (!(await recordPasskeyUse(tx, proved))) return false;
    const { member_id: id, member_name: name } = proved.passkey;
    await startMemberSession(tx, c, { publicUrl, member: { id, name }, by: 'passkey' });
    return true;
  });
}

/** Renews the proof of a signed-in member. Returns false if the passkey belongs to another member. */
export async function proveByPasskey(db: Db, member: SignedInMember, proved: ProvedPasskey) {
  if (proved.passkey.member_id !== member.id) return false;
  return await inTransaction(db, async (tx) => {
    if (!(await recordPasskeyUse(tx, proved))) return false;
    await renewProof(tx, member.sessionId);
    return true;
  });
}

/** Loaded on first use, because loading takes a tenth of the whole start. */
const library = () => import('@simplewebauthn/server');

/** Enough for a person's devices, and limits what a stolen session could add. */
const maxPasskeys = 20;

/** EdDSA, ES256 and RS256. Node marks newer ones as experimental. */
const algorithms = [-8, -7, -257];

type PasskeyTools = { db: Db; relyingParty: RelyingParty };

export async function createRegistrationOptions(
  { db, relyingParty }: PasskeyTools,
  member: { id: string; email: string; name: string },
) {
  const existing = await listPasskeys(db, member.id);
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: 'askback',
    rpID: relyingParty.rpId,
    userID: new Uint8Array(Buffer.from(member.id.replaceAll('-', ''), 'hex')),
    userName: member.email,
    userDisplayName: member.name,
    excludeCredentials: existing.map(({ id, transports }) => ({ id, transports })),
    supportedAlgorithmIDs: algorithms,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Returns false unless the passkey is new and answers our challenge. */
export async function addPasskey(
  { db, relyingParty }: PasskeyTools,
  { memberId, actor }: OwnAccount,
  { credential, challenge, name }: { credential: string; challenge: string; name: string },
): Promise<boolean> {
  const answer = readCredential<RegistrationResponseJSON>(credential);
  if (!answer) return false;
  const { verifyRegistrationResponse } = await library();
  const verified = await verifyRegistrationResponse({
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: relyingParty.origin,
    expectedRPID: relyingParty.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined);
  if (!verified?.verified) return false;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const public_key = Buffer.from(publicKey);
  const passkey = { id, member_id: memberId, public_key, counter, name, transports };
  return await inTransaction(db, async (tx) => {
    if ((await listPasskeys(tx, memberId)).length >= maxPasskeys) {
      const text = `An account has at most ${maxPasskeys} passkeys. Remove one first.`;
      throw new Refusal('conflict', text, { code: 'too_many_passkeys' });
    }
    const { count } = await tx`insert into passkeys ${tx(passkey)} on conflict do nothing`;
    if (count === 0) return false; // it belongs to another member
    await recordAccountAct(tx, { memberId, actor, act: 'member.passkey_added' });
    return true;
  });
}

type RemoveTools = { db: Db; settings: { signIn: SignInSettings } };

/** Removes a passkey unless it is the member's last way to sign in. */
export async function removePasskey(
  { db, settings }: RemoveTools,
  { memberId, actor }: OwnAccount,
  id: string,
) {
  await inTransaction(db, async (tx) => {
    await lockMember(tx, memberId); // concurrent removals could remove the last two passkeys
    const { passkeys, hasPassword, ssoIssuer } = await readProofs(tx, memberId);
    const { byPassword, oidc } = settings.signIn;
    if (passkeys <= 1 && !(byPassword && hasPassword) && !(oidc && ssoIssuer)) {
      throw new Refusal(
        'conflict',
        'This passkey is your only way to sign in. Add another passkey or a password first.',
        { code: 'last_way_in' },
      );
    }
    const { count } = await tx`
      delete from passkeys where id = ${id} and member_id = ${memberId}`;
    if (count === 0) throw notFound('passkey');
    await recordAccountAct(tx, { memberId, actor, act: 'member.passkey_removed' });
  });
}

/** Options for any passkey, so that no account name is needed. */
export async function createAuthenticationOptions({ rpId }: RelyingParty) {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({ rpID: rpId, userVerification: 'required' });
}

type StoredPasskey = {
  id: string;
  member_id: string;
  member_name: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
};

export type ProvedPasskey = { passkey: StoredPasskey; counter: number };

/** Returns the passkey that signed our challenge, or undefined. */
export async function checkPasskey(
  { db, relyingParty }: PasskeyTools,
  { credential, challenge }: { credential: string; challenge: string },
): Promise<ProvedPasskey | undefined> {
  const answer = readCredential<AuthenticationResponseJSON>(credential);
  if (!answer) return undefined;
  const [passkey] = await db<StoredPasskey[]>`
    select p.id, p.member_id, m.name as member_name, p.public_key, p.counter::float8 as counter,
           p.transports
    from passkeys p
    join members m on m.id = p.member_id
    where p.id = ${answer.id}`;
  if (!passkey || !belongsTo(passkey, answer.response.userHandle)) return undefined;
  const { id, counter, transports } = passkey;
  const publicKey = new Uint8Array(passkey.public_key);
  const { verifyAuthenticationResponse } = await library();
  const verified = await verifyAuthenticationResponse({
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: relyingParty.origin,
    expectedRPID: relyingParty.rpId,
    requireUserVerification: true,
    credential: { id, publicKey, counter, transports },
  }).catch(() => undefined);
  if (!verified?.verified) return undefined;
  return { passkey, counter: verified.authenticationInfo.newCounter };
}

/** Records the use. Returns false if the counter did not increase, because the authenticator may be a clone. */
export async function recordPasskeyUse(tx: Sql, { passkey: { id }, counter }: ProvedPasskey) {
  const { count } = await tx`
    update passkeys
    set counter = ${counter}, used_at = now()
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0))`;
  return count > 0;
}

/** The authenticator may name its account, which must be the passkey's member. */
function belongsTo({ member_id }: StoredPasskey, handle: string | undefined): boolean {
  return (
    !handle || Buffer.from(handle, 'base64url').toString('hex') === member_id.replaceAll('-', '')
  );
}

/** `PublicKeyCredential.toJSON()`. Checks the fields that reach the database, because the library checks the others. */
const Credential = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({
    id: v.pipe(v.string(), v.regex(/^[\w-]{1,2000}$/)),
    response: v.looseObject({
      userHandle: v.nullish(v.string()),
      transports: v.optional(v.array(v.pipe(v.string(), v.regex(/^[a-z-]{1,30}$/))), []),
    }),
  }),
);

function readCredential<Answer>(text: string): Answer | undefined {
  const read = v.safeParse(Credential, text);
  return read.success ? (read.output as Answer) : undefined;
}

export type ListedPasskey = {
  id: string;
  name: string;
  transports: string[];
  used_at: Date | null;
  created_at: Date;
};

export async function listPasskeys(sql: Sql, memberId: string): Promise<ListedPasskey[]> {
  return await sql<ListedPasskey[]>`
    select id, name, transports, used_at, created_at
    from passkeys
    where member_id = ${memberId}
    order by created_at, id`;
}

/** The relying party: browsers bind each passkey to this host. */
type RelyingParty = { rpId: string; origin: string };

/** Returns undefined where browsers offer no passkeys: at an IP address, and without https except on localhost. */
export function findRelyingParty(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isNumber = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isNumber || (protocol !== 'https:' && !isLocal)) return undefined;
  return { rpId: hostname, origin };
}
