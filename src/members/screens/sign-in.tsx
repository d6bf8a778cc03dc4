import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { orNotFound } from '../../errors.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import type { Log } from '../../lib/log/log.ts';
import type { OidcFailure, OidcProvider } from '../../lib/oidc/provider.ts';
import { isTimeZoneName } from '../../lib/validation/parse.ts';
import { renewProof } from '../../sessions/queries.ts';
import {
  type MemberEnv,
  ownPath,
  type SignedInMember,
  signedIn,
  withNext,
} from '../../sessions/session.ts';
import type { OidcSettings } from '../../settings.ts';
import { assetUrl } from '../../web/app/assets.ts';
import { FormErrors } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  LinkButton,
  readForm,
  Submit,
  SubmitOrCancel,
  withFieldError,
} from '../../web/app/forms.tsx';
import { renderStandalone } from '../../web/app/screen.tsx';
import { readProofs } from '../account.ts';
import { countProof } from '../attempts.ts';
import { PasswordField } from '../invite.ts';
import { proveByIdentity, type SsoRefusal, signInByIdentity } from '../oidc.ts';
import {
  checkPasskey,
  createAuthenticationOptions,
  findRelyingParty,
  type ProvedPasskey,
  proveByPasskey,
  signInByPasskey,
} from '../passkeys.ts';
import {
  checkOwnPassword,
  consumeHandshake,
  findAwaitedMember,
  type MemberTools,
  setHandshake,
  signInByCode,
  signInByPassword,
  signOut,
} from '../sign-in.ts';
import { AccountName, CurrentPassword, Email, requirePasswords, showForm } from './reset.tsx';

/** Doesn't validate the email: an invalid address gets the same error as a wrong password. */
const SignInForm = v.object({
  email: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter your email address.'), v.maxLength(500)),
  password: PasswordField,
});

/** `/sign-in` and `/sign-out`. */
export const signInScreens = (tools: MemberTools) =>
  new Hono<RequestEnv>()
    .get('/sign-in', (c) => showSignIn(c, tools))

    .post('/sign-in', requirePasswords(tools), async (c) => {
      const form = await readForm(c, SignInForm);
      if (form.errors) return showSignIn(c, tools, form);
      const result = await signInByPassword(tools, c, form.values);
      if (result === 'signed_in') return c.redirect(nextOf(c), 303);
      if (result === 'awaits_code') return c.redirect(withNext('/sign-in/code', nextOf(c)), 303);
      const wrong = await withFieldError(c, {
        '': 'Wrong email or password. Try again, or reset your password.',
      });
      return showSignIn(c, tools, wrong);
    })
    .post('/sign-out', async (c) => {
      await signOut(tools, c);
      return redirectWith(c, '/sign-in', 'You are signed out.');
    });

const nextOf = (c: Context) => ownPath(c.req.query('next'));

function showSignIn(c: Context, tools: MemberTools, form = emptyForm()) {
  const next = nextOf(c);
  const body = (
    <>
      <p class="soft">Customer feedback, self-hosted.</p>
      <div class="stack">
        {tools.settings.signIn.byPassword ? (
          <form method="post" action={withNext('/sign-in', next)} class="stack">
            <FormErrors form={form} />
            <Email form={form} autocomplete="username webauthn" />
            <CurrentPassword
              name="password"
              label="Password"
              form={form}
              help={<a href="/forgot">Forgot password?</a>}
            />
            <Submit>Sign in</Submit>
          </form>
        ) : null}
        <OtherWaysToSignIn tools={tools} next={next} />
      </div>
    </>
  );
  const foot = <a href="/docs">API documentation</a>;
  return renderStandalone(c, { title: 'Sign in', body, foot, form });
}

const wrongText = 'This code is wrong or already used. Try the next one.';

export const CodeForm = v.object({
  code: v.pipe(v.string(), v.trim(), v.nonEmpty('Enter the code.'), v.maxLength(100, wrongText)),
});

/** `/sign-in/code`: the second step of two-step verification. */
export const codeScreens = (tools: MemberTools) =>
  new Hono<RequestEnv>()
    .get('/sign-in/code', async (c) => {
      if (!(await findAwaitedMember(tools, c)))
        return c.redirect(withNext('/sign-in', nextOf(c)), 303);
      return showCode(c);
    })
    .post('/sign-in/code', async (c) => {
      const awaited = await findAwaitedMember(tools, c);
      if (!awaited) return c.redirect(withNext('/sign-in', nextOf(c)), 303);
      const form = await readForm(c, CodeForm);
      if (form.errors) return showCode(c, form);
      const { memberId } = awaited;
      if (await signInByCode(tools, c, { memberId, typed: form.values.code })) {
        return c.redirect(nextOf(c), 303);
      }
      return showCode(c, await withFieldError(c, { code: wrongText }));
    });

/** Recovery codes contain letters, so their field needs a full keyboard on phones. */
function showCode(c: Context, form = emptyForm()) {
  const appPath = withNext('/sign-in/code', nextOf(c));
  const recoveryPath = `${appPath}${appPath.includes('?') ? '&' : '?'}recovery`;
  const isRecovery = c.req.query('recovery') !== undefined;
  return showForm(c, {
    title: 'Two-step verification',
    about: isRecovery
      ? 'Enter one of your recovery codes. Each works once.'
      : 'Enter the code that your authenticator app shows now.',
    form,
    action: isRecovery ? recoveryPath : appPath,
    fields: (
      <Field
        name="code"
        label={isRecovery ? 'Recovery code' : 'Code'}
        form={form}
        inputmode={isRecovery ? 'text' : 'numeric'}
        autocomplete={isRecovery ? 'off' : 'one-time-code'}
        required
      />
    ),
    button: 'Sign in',
    more: isRecovery
      ? { href: appPath, text: 'Use the authenticator app' }
      : { href: recoveryPath, text: 'Use a recovery code' },
  });
}

const CredentialForm = v.object({ credential: v.string() });
const PasskeyChallenge = v.object({ challenge: v.string(), use: v.literal('prove') });

/** Sign-in and re-authentication by passkey. The page's script first requests the options. */
export const passkeyScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .post('/sign-in/passkey/options', async (c) => {
      const options = await createAuthenticationOptions(getPasskeyTools(tools).relyingParty);
      const data = { challenge: options.challenge, use: 'prove' };
      setHandshake(c, tools, { kind: 'passkey', data });
      c.header('Cache-Control', 'no-store');
      return c.json(options);
    })
    .post('/sign-in/passkey', (c) =>
      usePasskey(c, tools, '/sign-in', (passkey) => signInByPasskey(tools, c, passkey)),
    )
    .post('/account/prove/passkey', signedIn(tools), (c) =>
      usePasskey(c, tools, '/account/prove', (passkey) =>
        proveByPasskey(tools.db, c.var.member, passkey),
      ),
    );

async function usePasskey(
  c: Context,
  tools: MemberTools,
  back: string,
  use: (passkey: ProvedPasskey) => Promise<boolean>,
) {
  const proved = await readPasskey(c, tools);
  if (typeof proved === 'object' && (await use(proved))) return c.redirect(nextOf(c), 303);
  const text =
    proved === 'late'
      ? 'The passkey request expired. Try again.'
      : 'This passkey is unknown or was refused. Sign in another way.';
  return redirectWith(c, withNext(back, nextOf(c)), text, 'failed');
}

/**
 * Returns the passkey that answered this browser's challenge. Counts the attempt before the challenge is consumed, so
 * that strangers cannot fill the table of used challenges.
 */
async function readPasskey(c: Context, tools: MemberTools) {
  const uncount = await countProof(tools.db, { account: null, address: clientAddress(c) });
  const pending = await consumeHandshake(c, tools, { kind: 'passkey', data: PasskeyChallenge });
  const form = await readForm(c, CredentialForm);
  if (!pending || form.errors) return 'late';
  const { challenge } = pending;
  const { credential } = form.values;
  const proved = await checkPasskey(getPasskeyTools(tools), { credential, challenge });
  if (proved) await uncount();
  return proved ?? 'refused';
}

export const getPasskeyTools = ({ db, publicUrl }: MemberTools) => ({
  db,
  relyingParty: orNotFound(findRelyingParty(publicUrl), 'page'),
});

const outcomeTexts = (name: string) => ({
  late: 'It was started in another browser, was already used, or took longer than ten minutes.',
  unreachable: `${name} is not responding. Try again in a moment, or sign in another way.`,
  cancelled: `You canceled the sign-in at ${name}.`,
  refused: `${name} and this server disagree. Try again. If it keeps failing, the log of this server has the reason.`,
  no_email: `${name} did not send your email address.`,
  unverified: `${name} has not verified your email address. Verify it there and sign in again.`,
  domain:
    'Email addresses at your domain can’t sign in here. Ask an operator of this server to allow the domain.',
  other_account: `Your email address belongs to another account at ${name}. Ask an owner to resolve this.`,
  no_access: 'You have no invitation yet. Ask an owner of the organization for one.',
});

type OidcTools = MemberTools & { log: Log; provider: OidcProvider; rules: OidcSettings };

const PendingFlow = v.object({
  flow: v.object({ state: v.string(), nonce: v.string(), verifier: v.string() }),
  next: v.string(),
  /** The session that re-authenticates; null for a sign-in. */
  session: v.nullable(v.string()),
  /** Time zone of the browser. An organization without an owner adopts it. */
  time_zone: v.optional(v.nullable(v.string()), null),
});

/** The redirect URI to register at the provider. */
export const oidcCallbackPath = '/sign-in/oidc/callback';

export const oidcScreens = (tools: OidcTools) =>
  new Hono<MemberEnv>()
    .get('/sign-in/oidc', (c) => startOidc(c, tools, null))
    .get('/account/prove/oidc', signedIn(tools), (c) => startOidc(c, tools, c.var.member.sessionId))
    .get(oidcCallbackPath, (c) => finishOidc(c, tools));

async function startOidc(c: Context, tools: OidcTools, session: string | null) {
  const { provider, rules } = tools;
  const started = await provider.start({
    fresh: session !== null,
    groups: rules.groups.length > 0,
  });
  if ('failed' in started) return showFailure(c, tools, started);
  const zone = c.req.query('time_zone') ?? '';
  const time_zone = isTimeZoneName(zone) ? zone : null;
  const data = { flow: started.flow, next: nextOf(c), session, time_zone };
  setHandshake(c, tools, { kind: 'oidc', data });
  return c.redirect(started.url, 303);
}

async function finishOidc(c: Context, tools: OidcTools) {
  const { provider, rules } = tools;
  // Count before the handshake is consumed, so that strangers cannot fill its table.
  const uncount = await countProof(tools.db, { account: null, address: clientAddress(c) });
  const pending = await consumeHandshake(c, tools, { kind: 'oidc', data: PendingFlow });
  if (!pending) return showOutcome(c, rules, 'late');
  const finished = await provider.finish(new URL(c.req.url).searchParams, pending.flow);
  if ('failed' in finished) return showFailure(c, tools, finished);
  await uncount();
  const { identity } = finished;
  const next = ownPath(pending.next);
  if (pending.session === null) {
    const newcomer = { ...identity, timeZone: pending.time_zone };
    const refused = await signInByIdentity(tools, c, newcomer);
    return refused ? showOutcome(c, rules, refused) : c.redirect(next, 303);
  }
  // A proof only counts for the session that requested it and for the linked account.
  let isProved = false;
  const visitor = await signedIn(tools)(c, async () => {
    const member: SignedInMember = c.get('member');
    if (member.sessionId === pending.session)
      isProved = await proveByIdentity(tools.db, member, identity);
  });
  if (visitor) return visitor;
  if (isProved) return c.redirect(next, 303);
  const text = `${rules.name} did not confirm the account that you are signed in with. Try again.`;
  return redirectWith(c, withNext('/account/prove', next), text, 'failed');
}

/** Logs the protocol error and shows a sentence. */
function showFailure(c: Context, { log, rules }: OidcTools, { failed, why }: OidcFailure) {
  const fields = { outcome: failed, why, request_id: c.get('requestId') };
  log.warn(fields, 'sign-in with the OpenID provider failed');
  return showOutcome(c, rules, failed);
}

type Outcome = 'late' | OidcFailure['failed'] | SsoRefusal;

function showOutcome(c: Context, { name }: OidcSettings, outcome: Outcome) {
  const isFinished = !['late', 'unreachable', 'cancelled', 'refused'].includes(outcome);
  const title = isFinished
    ? `Your account at ${name} can’t sign in here`
    : `Sign-in with ${name} failed`;
  const body = (
    <>
      <p>{outcomeTexts(name)[outcome]}</p>
      <p class="acts">
        <LinkButton href="/sign-in" text="Back to sign-in" />
      </p>
    </>
  );
  return renderStandalone(c, { title, body, status: outcome === 'unreachable' ? 503 : 403 });
}

const ProveForm = v.object({ password: PasswordField });

/** `/account/prove`: re-authenticates a signed-in member and returns to the page that requires it. */
export const proveScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .use('/account/prove', signedIn(tools))
    .get('/account/prove', (c) => showProve(c, tools))
    .post('/account/prove', requirePasswords(tools), async (c) => {
      const form = await readForm(c, ProveForm);
      if (form.errors) return await showProve(c, tools, form);
      const { member } = c.var;
      if (await checkOwnPassword(tools.db, c, { member, password: form.values.password })) {
        await renewProof(tools.db, member.sessionId);
        return c.redirect(nextOf(c), 303);
      }
      const wrong = await withFieldError(c, { password: 'Wrong password.' });
      return await showProve(c, tools, wrong);
    });

async function showProve(c: Context<MemberEnv>, tools: MemberTools, form = emptyForm()) {
  const next = nextOf(c);
  const { id, email } = c.var.member;
  const proofs = await readProofs(tools.db, id);
  const { byPassword, oidc } = tools.settings.signIn;
  const hasPassword = byPassword && proofs.hasPassword;
  const ways = {
    passkeys: proofs.passkeys > 0 && findRelyingParty(tools.publicUrl) !== undefined,
    sso: oidc !== null && proofs.ssoIssuer === oidc.issuer,
  };
  const hasAny = hasPassword || ways.passkeys || ways.sso;
  const body = (
    <>
      <p class="soft">
        You are signed in as {email}. For your security, please confirm that it’s you.
      </p>
      <div class="stack">
        {hasPassword ? (
          <form method="post" action={withNext('/account/prove', next)} class="stack">
            <FormErrors form={form} />
            <AccountName email={email} />
            <CurrentPassword name="password" label="Password" form={form} />
            <Submit>Continue</Submit>
          </form>
        ) : null}
        {hasAny ? null : (
          <p>
            Your account has no password. Sign out, sign in again the way you usually do, and try
            again.
          </p>
        )}
        <OtherWaysToSignIn tools={tools} next={next} prove={ways} />
      </div>
    </>
  );
  return renderStandalone(c, { title: 'Confirm it’s you', body, form });
}

type OtherWaysProps = {
  tools: MemberTools;
  next: string;
  /** The account's credentials, to re-authenticate a signed-in member. */
  prove?: { passkeys: boolean; sso: boolean };
};

/** Passkey and single sign-on, below or instead of the password. */
function OtherWaysToSignIn({ tools, next, prove }: OtherWaysProps) {
  const { oidc } = tools.settings.signIn;
  const hasPasskeys = findRelyingParty(tools.publicUrl) !== undefined && (prove?.passkeys ?? true);
  const base = prove ? '/account/prove' : '/sign-in';
  return (
    <div class="stack tight ways">
      {oidc && (prove?.sso ?? true) ? (
        <a class="button" href={withNext(`${base}/oidc`, next)} data-time-zone="">
          {prove ? `Confirm with ${oidc.name}` : `Sign in with ${oidc.name}`}
        </a>
      ) : null}
      {hasPasskeys ? (
        <PasskeyForm
          kind="get"
          action={withNext(`${base}/passkey`, next)}
          options="/sign-in/passkey/options"
          button={prove ? 'Confirm with a passkey' : 'Sign in with a passkey'}
        />
      ) : null}
    </div>
  );
}

type PasskeyFormProps = {
  kind: 'create' | 'get';
  action: string;
  /** Path of the options for the browser. */
  options: string;
  button: string;
  /** Makes the button primary, with Cancel beside it. */
  cancel?: string;
  children?: Child;
};

/** A form that the browser completes with a passkey. Stays hidden without JavaScript. */
export function PasskeyForm(props: PasskeyFormProps) {
  const { kind, action, options, button, cancel, children } = props;
  return (
    <>
      <form
        method="post"
        action={action}
        class="stack"
        data-passkey={kind}
        data-options={options}
        hidden
      >
        {children}
        <input type="hidden" name="credential" />
        {cancel ? (
          <SubmitOrCancel button={button} cancel={cancel} />
        ) : (
          <button type="submit">{button}</button>
        )}
        <p class="error" role="alert" />
      </form>
      <noscript>
        <p class="sub">Passkeys need JavaScript, which is off in this browser.</p>
      </noscript>
      <script src={assetUrl('passkeys.js')} defer />
    </>
  );
}
