import type { Context } from 'hono';
import { inTransaction } from '../../lib/db/transaction.ts';
import { renewProof } from '../../sessions/queries.ts';
import type { SignedInMember } from '../../sessions/session.ts';
import type { HandshakeTools } from '../handshake.ts';
import { beginMemberSession } from '../sign-in.ts';
import type { PasskeyAnswer } from './answers.ts';
import { checkPasskey, notePasskeyUse, type ProvedPasskey } from './passkeys.ts';
import type { PasskeyPlace } from './place.rules.ts';

export type PasskeySignInTools = HandshakeTools;

export type GivenPasskeyAnswer = {
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
