import { isIP } from 'node:net';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Context } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { renewProof } from '../sessions/queries.ts';
import type { SignedInMember } from '../sessions/session.ts';
import type { SignInSettings } from '../settings.ts';
import { type AccountProofs, findProofs } from './account.ts';
import { recordAccountAct } from './account-acts.ts';
import type { OwnAccount } from './codes.ts';
import { lockMember } from './queries.ts';
import { beginMemberSession, type HandshakeTools } from './sign-in.ts';

export type PasskeySignInTools = HandshakeTools;

type GivenPasskeyAnswer = {
  answer: PasskeyAnswer;
  challenge: string;
  place: PasskeyPlace;
  /** Takes back that the answer counts as a wrong one for its network address. A key cannot be guessed. */
  giveBack: () => Promise<void>;
};

/** Signs in the member whose passkey answered. Returns whether one did. */
export async function signInByPasskey(
  { db, publicUrl }: PasskeySignInTools,
  c: Context,
  given: GivenPasskeyAnswer,
): Promise<boolean> {
  const proved = await checkCounted({ db }, given);
  if (!proved) return false;
  return await inTransaction(db, async (tx) => {
    if (!(await notePasskeyUse(tx, proved))) return false;
    const { member_id: id, member_name: name } = proved.passkey;
    await beginMemberSession(tx, c, { publicUrl, member: { id, name }, by: 'passkey' });
    return true;
  });
}

/** Takes the passkey of a member who is signed in as a proof once more. Returns whether it was the member's. */
export async function proveByPasskey(
  { db }: PasskeySignInTools,
  { member, given }: { member: SignedInMember; given: GivenPasskeyAnswer },
): Promise<boolean> {
  const proved = await checkCounted({ db }, given);
  if (proved?.passkey.member_id !== member.id) return false;
  return await inTransaction(db, async (tx) => {
    if (!(await notePasskeyUse(tx, proved))) return false;
    await renewProof(tx, member.sessionId);
    return true;
  });
}

async function checkCounted(
  { db }: Pick<PasskeySignInTools, 'db'>,
  { answer, challenge, place, giveBack }: GivenPasskeyAnswer,
): Promise<ProvedPasskey | undefined> {
  const proved = await checkPasskey({ db, place }, { answer, challenge });
  if (proved) await giveBack();
  return proved;
}

/** Loaded with the first passkey: it takes as long to load as a tenth of the whole service. */
const library = () => import('@simplewebauthn/server');

/** Enough for all devices of a person; what a stolen session could add is limited too. */
const mostPasskeys = 20;

/** EdDSA, ES256 and RS256: what authenticators have. Node marks newer ones as experimental. */
const algorithms = [-8, -7, -257];

type PasskeyTools = { db: Db; place: PasskeyPlace };

/** What the browser must know to make a passkey for this member; its challenge is kept for the answer. */
export async function offerPasskey(
  { db, place }: PasskeyTools,
  member: { id: string; email: string; name: string },
) {
  const known = await listPasskeys(db, member.id);
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: 'askback',
    rpID: place.rpId,
    userID: new Uint8Array(Buffer.from(member.id.replaceAll('-', ''), 'hex')),
    userName: member.email,
    userDisplayName: member.name,
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports })),
    supportedAlgorithmIDs: algorithms,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

type NewPasskeyAnswer = { answer: PasskeyAttestation; challenge: string; name: string };

/** Adds the passkey that the browser made. Returns whether it is one that answers our challenge. */
export async function addPasskey(
  { db, place }: PasskeyTools,
  { memberId, actor }: OwnAccount,
  { answer, challenge, name }: NewPasskeyAnswer,
): Promise<boolean> {
  const { verifyRegistrationResponse } = await library();
  const verified = await verifyRegistrationResponse({
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: place.origin,
    expectedRPID: place.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined);
  if (!verified?.verified) return false;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const passkey = { id, member_id: memberId, public_key: Buffer.from(publicKey), counter };
  return await inTransaction(db, async (tx) => {
    if ((await listPasskeys(tx, memberId)).length >= mostPasskeys) throw tooMany();
    if (!(await insertPasskey(tx, { ...passkey, name, transports }))) return false;
    await recordAccountAct(tx, { memberId, actor, act: 'member.passkey_added' });
    return true;
  });
}

export async function changePasskeyName(
  { db }: Pick<PasskeyTools, 'db'>,
  { memberId, actor }: OwnAccount,
  { id, name }: { id: string; name: string },
) {
  await inTransaction(db, async (tx) => {
    if (!(await renamePasskey(tx, { memberId, id }, name))) throw notFound('passkey');
    const details = { changed: ['passkey name'] };
    await recordAccountAct(tx, { memberId, actor, act: 'member.changed', details });
  });
}

type RemoveTools = { db: Db; settings: { signIn: SignInSettings } };

/** Removes a passkey, unless its member could not sign in any more. */
export async function removePasskey(
  { db, settings }: RemoveTools,
  { memberId, actor }: OwnAccount,
  id: string,
) {
  await inTransaction(db, async (tx) => {
    const proofs = await lockProofs(tx, memberId);
    if (!proofs || !hasOtherWayIn(proofs, settings.signIn)) throw lastWayIn();
    if (!(await deletePasskey(tx, { memberId, id }))) throw notFound('passkey');
    await recordAccountAct(tx, { memberId, actor, act: 'member.passkey_removed' });
  });
}

/** What the browser must know to offer every passkey of this service, also without an account's name. */
export async function askForPasskey({ rpId }: PasskeyPlace) {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({ rpID: rpId, userVerification: 'required' });
}

type GivenPasskey = { answer: PasskeyAnswer; challenge: string };

type ProvedPasskey = { passkey: StoredPasskey; counter: number };

/** The passkey that answered our challenge with its key; undefined for any other answer. */
export async function checkPasskey(
  { db, place }: PasskeyTools,
  { answer, challenge }: GivenPasskey,
): Promise<ProvedPasskey | undefined> {
  const passkey = await findPasskey(db, answer.id);
  if (!passkey || !isOf(passkey, answer.response.userHandle)) return undefined;
  const { id, counter, transports } = passkey;
  const publicKey = new Uint8Array(passkey.public_key);
  const { verifyAuthenticationResponse } = await library();
  const verified = await verifyAuthenticationResponse({
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: place.origin,
    expectedRPID: place.rpId,
    requireUserVerification: true,
    credential: { id, publicKey, counter, transports },
  }).catch(() => undefined);
  if (!verified?.verified) return undefined;
  return { passkey, counter: verified.authenticationInfo.newCounter };
}

/** Notes the use in the transaction of the sign-in: of two copies of an authenticator, one is refused. */
export const notePasskeyUse = (tx: Sql, { passkey, counter }: ProvedPasskey): Promise<boolean> =>
  usePasskey(tx, passkey.id, counter);

/** The authenticator names the account that it answers for; it must be the one that we know. */
function isOf({ member_id }: StoredPasskey, handle: string | undefined): boolean {
  return (
    !handle || Buffer.from(handle, 'base64url').toString('hex') === member_id.replaceAll('-', '')
  );
}

/** Two passkeys cannot be removed at the same moment, each because of the other. */
async function lockProofs(tx: Sql, memberId: string) {
  await lockMember(tx, memberId);
  return await findProofs(tx, memberId);
}

/** Whether a member can sign in without one of its passkeys. */
function hasOtherWayIn(
  { hasPassword, ssoIssuer, passkeys }: AccountProofs,
  { byPassword, oidc }: SignInSettings,
): boolean {
  return passkeys > 1 || (byPassword && hasPassword) || (oidc !== null && ssoIssuer !== null);
}

const lastWayIn = () =>
  new Refusal(
    'conflict',
    'This passkey is the only way to sign in to your account. Add another one first, or set a password where this server takes them.',
    { code: 'last_way_in' },
  );

const tooMany = () =>
  new Refusal('conflict', `An account has at most ${mostPasskeys} passkeys. Remove one first.`, {
    code: 'too_many_passkeys',
  });

// What a browser says of a passkey, as `PublicKeyCredential.toJSON()` writes it.

const longest = 20_000;

const Base64Url = v.pipe(v.string(), v.regex(/^[\w-]*$/), v.maxLength(longest));

const credential = {
  id: Base64Url,
  rawId: Base64Url,
  type: v.literal('public-key'),
};

const Attestation = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: Base64Url,
    attestationObject: Base64Url,
    transports: v.optional(v.array(v.pipe(v.string(), v.regex(/^[a-z-]{1,30}$/))), []),
  }),
});

const Answer = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: v.nullish(Base64Url),
  }),
});

type PasskeyAttestation = RegistrationResponseJSON;
type PasskeyAnswer = AuthenticationResponseJSON;

/** Undefined for what no browser writes. */
export function readAttestation(text: string): PasskeyAttestation | undefined {
  const read = readJson(Attestation, text);
  return read && { ...read, clientExtensionResults: {} };
}

export function readAnswer(text: string): PasskeyAnswer | undefined {
  const read = readJson(Answer, text);
  if (!read) return undefined;
  const { userHandle, ...response } = read.response;
  return {
    ...read,
    response: { ...response, ...(userHandle ? { userHandle } : {}) },
    clientExtensionResults: {},
  };
}

function readJson<const S extends v.GenericSchema>(
  schema: S,
  text: string,
): v.InferOutput<S> | undefined {
  try {
    const read = v.safeParse(schema, JSON.parse(text));
    return read.success ? read.output : undefined;
  } catch {
    return undefined;
  }
}

export type ListedPasskey = {
  id: string;
  name: string;
  transports: string[];
  used_at: Date | null;
  created_at: Date;
};

/** The passkeys of a member, in the order in which they were added. */
export async function listPasskeys(sql: Sql, memberId: string): Promise<ListedPasskey[]> {
  return await sql<ListedPasskey[]>`
    select id, name, transports, used_at, created_at
    from passkeys
    where member_id = ${memberId}
    order by created_at, id`;
}

type StoredPasskey = {
  id: string;
  member_id: string;
  member_name: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
};

async function findPasskey(sql: Sql, id: string): Promise<StoredPasskey | undefined> {
  const [row] = await sql<StoredPasskey[]>`
    select p.id, p.member_id, m.name as member_name, p.public_key, p.counter::float8 as counter,
           p.transports
    from passkeys p
    join members m on m.id = p.member_id
    where p.id = ${id}`;
  return row;
}

type NewPasskey = Pick<
  StoredPasskey,
  'id' | 'member_id' | 'public_key' | 'counter' | 'transports'
> & {
  name: string;
};

/** Returns whether it was added: a credential belongs to one member. */
async function insertPasskey(sql: Sql, passkey: NewPasskey): Promise<boolean> {
  const { count } = await sql`insert into passkeys ${sql(passkey)} on conflict do nothing`;
  return count > 0;
}

/** Returns whether its counter went on: authenticators that count never show a number twice. */
async function usePasskey(sql: Sql, id: string, counter: number): Promise<boolean> {
  const { count } = await sql`
    update passkeys
    set counter = ${counter}, used_at = now()
    where id = ${id} and (counter < ${counter} or (counter = 0 and ${counter} = 0))`;
  return count > 0;
}

type PasskeyOf = { memberId: string; id: string };

async function renamePasskey(sql: Sql, { memberId, id }: PasskeyOf, name: string) {
  const { count } = await sql`
    update passkeys set name = ${name} where id = ${id} and member_id = ${memberId}`;
  return count > 0;
}

async function deletePasskey(sql: Sql, { memberId, id }: PasskeyOf): Promise<boolean> {
  const { count } = await sql`delete from passkeys where id = ${id} and member_id = ${memberId}`;
  return count > 0;
}

/** Where passkeys belong: browsers bind each to the host, and offer it there alone. */
type PasskeyPlace = { rpId: string; origin: string };

/** Undefined where browsers have no passkeys: at a bare network address, and without encryption elsewhere than here. */
export function passkeyPlace(publicUrl: string): PasskeyPlace | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isNumber = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isNumber || (protocol !== 'https:' && !isLocal)) return undefined;
  return { rpId: hostname, origin };
}
