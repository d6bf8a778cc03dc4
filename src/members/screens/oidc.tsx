import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import type { Log } from '../../lib/log/log.ts';
import type { OidcIdentity } from '../../lib/oidc/identity.ts';
import type { OidcFailure, OidcProvider } from '../../lib/oidc/provider.ts';
import { ownPath, withNext } from '../../sessions/own-path.ts';
import { type MemberEnv, type SignedInMember, signedIn } from '../../sessions/session.ts';
import type { OidcSettings } from '../../settings/sign-in.ts';
import { flash } from '../../web/app/flash.ts';
import { renderAlone } from '../../web/app/screen.tsx';
import { countProof } from '../attempts.ts';
import { type HandshakeTools, keepHandshake, takeHandshake } from '../handshake.ts';
import { proveByIdentity, type SsoRefusal, signInByIdentity } from '../oidc/sign-in.ts';

const failedTitle = (name: string) => `The sign-in with ${name} was not finished`;

const failedTexts = {
  unreachable: (name: string) =>
    `${name} does not answer now. Try again in a moment, or sign in another way.`,
  cancelled: (name: string) => `You turned back at ${name}. Nothing has changed.`,
  refused: (name: string) =>
    `${name} and this server did not agree. Try again; if it stays so, the reason is in the log of this server.`,
} as const;

const refusedTexts = {
  late: () => 'It was begun in another browser, was used already, or took longer than ten minutes.',
  no_email: (name: string) => `${name} passed on no email address for you.`,
  unverified: (name: string) =>
    `${name} does not confirm that your email address is yours. Confirm it there, and sign in again.`,
  domain: () => 'Addresses of your domain are not allowed to sign in.',
  other_account: (name: string) =>
    `Your address belongs to another account at ${name}. An owner can ask for that to be cleared.`,
  no_access: () => 'Your address has no invitation yet. Ask an owner of the organization for one.',
} as const;

/** The provider and what its members may become, where one is configured. */
export type SingleSignOn = { provider: OidcProvider; rules: OidcSettings };

export type OidcScreenTools = HandshakeTools & { log: Log; sso: SingleSignOn | null };

const KeptFlow = v.object({
  flow: v.object({ state: v.string(), nonce: v.string(), verifier: v.string() }),
  next: v.string(),
  /** The session that is to be proved once more; without one it is a sign-in. */
  session: v.nullable(v.string()),
});

/** Where the provider sends the browser back to: the same address for every sign-in, to be registered there. */
export const oidcCallbackPath = '/sign-in/oidc/callback';

export const oidcScreens = (tools: OidcScreenTools) =>
  new Hono<RequestEnv>()
    .get('/sign-in/oidc', (c) => begin(c, tools, { session: null }))
    .get(oidcCallbackPath, (c) => finish(c, tools))
    .route('/account/prove/oidc', proveScreen(tools));

const proveScreen = (tools: OidcScreenTools) =>
  new Hono<MemberEnv>().use(signedIn(tools)).get('/', async (c) => {
    // Settings may have changed since the page that led here.
    if (!tools.sso)
      return c.redirect(withNext('/account/prove', ownPath(c.req.query('next'))), 303);
    return await begin(c, tools, { session: c.var.member.sessionId });
  });

async function begin(c: Context, tools: OidcScreenTools, { session }: { session: string | null }) {
  const { provider, rules } = configured(tools);
  const next = ownPath(c.req.query('next'));
  const begun = await provider.start({
    fresh: session !== null,
    groups: rules.groups.length > 0,
  });
  if ('failed' in begun) return showFailure(c, tools, begun);
  keepHandshake(c, tools, { kind: 'oidc', data: { flow: begun.flow, next, session } });
  return c.redirect(begun.url, 303);
}

async function finish(c: Context, tools: OidcScreenTools) {
  const { provider, rules } = configured(tools);
  // It counts before the handshake is spent, so that strangers cannot fill its table.
  const giveBack = await countProof(tools.db, { account: null, address: clientAddress(c) });
  const kept = await takeHandshake(c, tools, { kind: 'oidc', data: KeptFlow });
  if (!kept) return showRefusal(c, tools, 'late');
  const finished = await provider.finish(new URL(c.req.url).searchParams, kept.flow);
  if ('failed' in finished) return showFailure(c, tools, finished);
  await giveBack();
  const { identity } = finished;
  if (kept.session !== null) return await prove(c, tools, { kept, identity });
  const result = await signInByIdentity({ ...tools, rules }, c, identity);
  if ('refused' in result) return showRefusal(c, tools, result.refused);
  return c.redirect(ownPath(kept.next), 303);
}

type Returned = { kept: v.InferOutput<typeof KeptFlow>; identity: OidcIdentity };

/** A proof counts for the session that asked for it, and for the person it belongs to. */
async function prove(c: Context, tools: OidcScreenTools, { kept, identity }: Returned) {
  const next = ownPath(kept.next);
  let isProved = false;
  const refused = await signedIn(tools)(c, async () => {
    const member: SignedInMember = c.get('member');
    if (member.sessionId !== kept.session) return;
    isProved = await proveByIdentity(tools, member, identity);
  });
  if (refused) return refused;
  if (isProved) return c.redirect(next, 303);
  flash(c, {
    kind: 'failed',
    text: `${configured(tools).rules.name} did not confirm the account that you are signed in with here. Try again.`,
  });
  return c.redirect(withNext('/account/prove', next), 303);
}

/** The log has the word of the protocol; the reader a sentence. */
function showFailure(c: Context, tools: OidcScreenTools, { failed, why }: OidcFailure) {
  const { name } = configured(tools).rules;
  tools.log.warn(
    { outcome: failed, why, request_id: c.get('requestId') },
    'sign-in with the OpenID provider failed',
  );
  const status = failed === 'unreachable' ? 503 : 403;
  return showWay(c, { title: failedTitle(name), text: failedTexts[failed](name), status });
}

function showRefusal(c: Context, tools: OidcScreenTools, refused: SsoRefusal | 'late') {
  const { name } = configured(tools).rules;
  const title =
    refused === 'late' ? failedTitle(name) : `Your account at ${name} cannot sign in here`;
  return showWay(c, { title, text: refusedTexts[refused](name), status: 403 });
}

type Way = { title: string; text: string; status: 403 | 503 };

function showWay(c: Context, { title, text, status }: Way) {
  const body = (
    <>
      <p>{text}</p>
      <p class="actions">
        <a class="button" href="/sign-in">
          Back to sign-in
        </a>
      </p>
    </>
  );
  return renderAlone(c, { title, body, status });
}

function configured({ sso }: OidcScreenTools): SingleSignOn {
  if (!sso) throw notFound('page');
  return sso;
}
