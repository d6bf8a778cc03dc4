import { notFound, Refusal } from '../../errors.ts';
import type { Db, Sql } from '../../lib/db/db.ts';
import { inTransaction } from '../../lib/db/transaction.ts';
import type { SignInSettings } from '../../settings/sign-in.ts';
import { type AccountProofs, findProofs } from '../account/queries.ts';
import { recordAccountAct } from '../account-acts.ts';
import type { OwnAccount } from '../codes/codes.ts';
import { lockMember } from '../queries.ts';
import type { PasskeyAnswer, PasskeyAttestation } from './answers.ts';
import type { PasskeyPlace } from './place.rules.ts';
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  renamePasskey,
  type StoredPasskey,
  usePasskey,
} from './queries.ts';

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

export type ProvedPasskey = { passkey: StoredPasskey; counter: number };

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
export function hasOtherWayIn(
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
