import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { ownPath, withNext } from '../../sessions/own-path.ts';
import { type MemberEnv, signedIn } from '../../sessions/session.ts';
import { flash } from '../../web/app/flash.ts';
import { readForm } from '../../web/app/read-form.ts';
import { countProof } from '../attempts.ts';
import { keepHandshake, takeHandshake } from '../handshake.ts';
import { readAnswer } from '../passkeys/answers.ts';
import { askForPasskey } from '../passkeys/passkeys.ts';
import { passkeyPlace } from '../passkeys/place.rules.ts';
import { type PasskeySignInTools, proveByPasskey, signInByPasskey } from '../passkeys/sign-in.ts';

const CredentialForm = v.object({ credential: v.string() });
export const PasskeyChallenge = v.object({ challenge: v.string(), use: v.string() });

/** Signing in with a passkey, and proving by one. The script of the pages asks here for a question first. */
export const passkeyScreens = (tools: PasskeySignInTools) =>
  new Hono<RequestEnv>()
    .post('/sign-in/passkey/options', async (c) => {
      const options = await askForPasskey(placeOf(tools));
      const data = { challenge: options.challenge, use: 'prove' };
      keepHandshake(c, tools, { kind: 'passkey', data });
      c.header('Cache-Control', 'no-store');
      return c.json(options);
    })

    .post('/sign-in/passkey', async (c) => {
      const next = ownPath(c.req.query('next'));
      const given = await readGiven(c, tools);
      if (given && (await signInByPasskey(tools, c, given))) return c.redirect(next, 303);
      return refuse(c, given, withNext('/sign-in', next));
    })

    .route('/account/prove/passkey', proveScreen(tools));

const proveScreen = (tools: PasskeySignInTools) =>
  new Hono<MemberEnv>().use(signedIn(tools)).post('/', async (c) => {
    const next = ownPath(c.req.query('next'));
    const given = await readGiven(c, tools);
    const { member } = c.var;
    if (given && (await proveByPasskey(tools, { member, given }))) return c.redirect(next, 303);
    return refuse(c, given, withNext('/account/prove', next));
  });

/**
 * What the browser answered, with the challenge that was kept for it; undefined when that is gone. The answer counts
 * before the challenge is spent, so that strangers cannot fill its table.
 */
async function readGiven(c: Context, tools: PasskeySignInTools) {
  const proof = { account: null, address: clientAddress(c) };
  const giveBack = await countProof(tools.db, proof);
  const kept = await takeHandshake(c, tools, { kind: 'passkey', data: PasskeyChallenge });
  const form = await readForm(c, CredentialForm);
  if (kept?.use !== 'prove' || form.errors) return undefined;
  const answer = readAnswer(form.values.credential);
  return answer && { answer, challenge: kept.challenge, place: placeOf(tools), giveBack };
}

function refuse(c: Context, given: object | undefined, back: string) {
  flash(c, {
    kind: 'failed',
    text: given
      ? 'This passkey is not known here, or it was refused. Sign in another way.'
      : 'The request for the passkey was too old. Try again.',
  });
  return c.redirect(back, 303);
}

function placeOf({ publicUrl }: PasskeySignInTools) {
  const place = passkeyPlace(publicUrl);
  if (!place) throw notFound('page');
  return place;
}
