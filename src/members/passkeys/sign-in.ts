import type { Context } from 'hono';
import { inTransaction } from '../../lib/db/transaction.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import { renewProof } from '../../sessions/queries.ts';
import type { SignedInMember } from '../../sessions/session.ts';
import { countProof } from '../attempts.ts';
import type { HandshakeTools } from '../handshake.ts';
import { beginMemberSession } from '../sign-in.ts';
import type { PasskeyAnswer } from './answers.ts';
import { checkPasskey, notePasskeyUse, type ProvedPasskey } from './passkeys.ts';
import type { PasskeyPlace } from './place.rules.ts';

export type PasskeySignInTools = HandshakeTools;

export type GivenPasskeyAnswer = { answer: PasskeyAnswer; challenge: string; place: PasskeyPlace };

/** Signs in the member whose passkey answered. Returns whether one did. */
export async function signInByPasskey(
  { db, publicUrl }: PasskeySignInTools,
  c: Context,
  given: GivenPasskeyAnswer,
): Promise<boolean> {
  const proved = await checkCounted({ db }, c, given);
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
  c: Context,
  { member, given }: { member: SignedInMember; given: GivenPasskeyAnswer },
): Promise<boolean> {
  const proved = await checkCounted({ db }, c, given);
  if (proved?.passkey.member_id !== member.id) return false;
  return await inTransaction(db, async (tx) => {
    if (!(await notePasskeyUse(tx, proved))) return false;
    await renewProof(tx, member.sessionId);
    return true;
  });
}

/** Wrong answers count for the network address; a key of its size cannot be guessed. */
async function checkCounted(
  { db }: Pick<PasskeySignInTools, 'db'>,
  c: Context,
  { answer, challenge, place }: GivenPasskeyAnswer,
): Promise<ProvedPasskey | undefined> {
  const account = `passkey ${answer.id}`;
  const giveBack = await countProof(db, {
    ...{ account, address: clientAddress(c), isGuessable: false },
  });
  const proved = await checkPasskey({ db, place }, { answer, challenge });
  if (proved) await giveBack();
  return proved;
}
