import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { actorOf } from '../../audit/acts.ts';
import { notFound, Refusal } from '../../errors.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import { type MemberEnv, recentProof, requireRecentProof } from '../../sessions/session.ts';
import type { SignInSettings } from '../../settings.ts';
import { Confirm, CopyButton, FormErrors, State, Time } from '../../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Submit,
  statusOf,
  withFieldError,
} from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import { QrCode } from '../../web/qr-code.tsx';
import { type AccountProofs, deviceName } from '../account.ts';
import { countProof } from '../attempts.ts';
import {
  createTotpSecret,
  formatSecret,
  type OwnAccount,
  pendingSecret,
  renewRecoveryCodes,
  totpUrl,
  turnOffCodes,
  turnOnCodes,
} from '../codes.ts';
import { NameField } from '../invite.ts';
import {
  addPasskey,
  changePasskeyName,
  createRegistrationOptions,
  type ListedPasskey,
  listPasskeys,
  removePasskey,
} from '../passkeys.ts';
import { consumeHandshake, type MemberTools, setHandshake } from '../sign-in.ts';
import { CodeForm, getRelyingParty, PasskeyForm } from './sign-in.tsx';

type PasskeysPartProps = { passkeys: readonly ListedPasskey[]; isPossible: boolean };

/** `isPossible`: browsers have passkeys at the address of this service. */
export function PasskeysPart({ passkeys, isPossible }: PasskeysPartProps) {
  const add = <LinkButton href="/account/passkeys/new" text="Add a passkey" />;
  return (
    <Part id="passkeys" title="Passkeys" act={isPossible ? add : undefined}>
      <p class="small soft">
        {isPossible
          ? passkeysAbout
          : 'Browsers have passkeys only where this server is reached by a host name over https, or as localhost. Its public URL is neither.'}
      </p>
      {passkeys.length === 0 ? (
        isPossible && <EmptyState title="No passkeys yet" />
      ) : (
        <DataTable
          caption="Passkeys"
          columns={[
            { head: 'Name' },
            { head: 'Last used' },
            { head: 'Added' },
            { head: 'Acts', hidden: true, number: true },
          ]}
          rows={passkeys.map(({ id, name, used_at, created_at }) => ({
            cells: [
              <bdi>{name}</bdi>,
              used_at ? <Time at={used_at} show="ago" /> : 'never',
              <Time at={created_at} show="day" />,
              <span class="actions end">
                <a href={`/account/passkeys/${id}/name`} aria-label={`Rename ${name}`}>
                  Rename
                </a>
                <a href={`/account/passkeys/${id}/remove`} aria-label={`Remove ${name}`}>
                  Remove
                </a>
              </span>,
            ],
          }))}
        />
      )}
    </Part>
  );
}

export function CodesPart({ proofs }: { proofs: AccountProofs }) {
  const { codesSince, recoveryCodes } = proofs;
  if (!codesSince) {
    return (
      <Part id="codes" title="One-time codes">
        <p class="small soft">
          After your password, sign-in asks for a code of six digits from an app on your phone. A
          password that was stolen is then not enough.
        </p>
        <form method="post" action="/account/codes" class="fields">
          <div class="actions">
            <State kind="skipped">Off</State>
            <button type="submit">Switch on</button>
          </div>
        </form>
      </Part>
    );
  }
  const left = `${counted(recoveryCodes, 'recovery code')} left. Each replaces a code once, when the phone is lost.`;
  return (
    <Part id="codes" title="One-time codes">
      <p>
        <State kind="fine">
          On since <Time at={codesSince} show="day" />
        </State>
      </p>
      <p class="small soft">{left}</p>
      <div class="actions">
        <LinkButton href="/account/codes/renew" text="New recovery codes" />
        <LinkButton href="/account/codes/off" text="Switch off" kind="danger" />
      </div>
    </Part>
  );
}

export function SsoPart({ proofs, oidc }: { proofs: AccountProofs; oidc: SignInSettings['oidc'] }) {
  const { ssoIssuer } = proofs;
  if (!ssoIssuer && !oidc) return null;
  return (
    <Part id="sso" title="Single sign-on">
      <p>
        {oidc
          ? `Your account is linked with ${oidc.name}${ssoIssuer ? '' : ' when you first sign in there'}.`
          : 'Your account is linked with a provider that this server no longer uses.'}
      </p>
      {ssoIssuer ? (
        <div class="actions">
          <LinkButton href="/account/sso/remove" text="Remove link" kind="danger" />
        </div>
      ) : null}
    </Part>
  );
}

const passkeysAbout =
  'A passkey signs you in with your finger, your face or a security key, without a password.';

const NewPasskeyForm = v.object({ name: NameField, credential: v.string() });
const RenameForm = v.object({ name: NameField });
const NewChallenge = v.object({ challenge: v.string(), adds: v.string() });

/** `/account/passkeys`: add, name and remove. */
export const accountPasskeyScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .get('/new', (c) => {
      getRelyingParty(tools);
      requireRecentProof(c);
      return showNewPasskey(c);
    })
    .post('/options', async (c) => {
      requireRecentProof(c);
      const { db } = tools;
      const options = await createRegistrationOptions(
        { db, relyingParty: getRelyingParty(tools) },
        c.var.member,
      );
      const data = { challenge: options.challenge, adds: c.var.member.sessionId };
      setHandshake(c, tools, { kind: 'passkey', data });
      c.header('Cache-Control', 'no-store');
      return c.json(options);
    })
    .post('/', (c) => add(c, tools))

    .get('/:id/name', async (c) => showName(c, await getPasskey(c, tools)))
    .post('/:id/name', async (c) => {
      const passkey = await getPasskey(c, tools);
      const form = await readForm(c, RenameForm);
      if (form.errors) return showName(c, passkey, form);
      await changePasskeyName(tools.db, ownAccount(c), { id: passkey.id, name: form.values.name });
      return done(c, 'The passkey has a new name.');
    })

    .get('/:id/remove', async (c) => {
      requireRecentProof(c);
      const { id, name } = await getPasskey(c, tools);
      return showConfirm(c, {
        title: `Remove the passkey “${name}”`,
        means:
          'It signs you in no more. Delete it on the device as well, where it stays otherwise.',
        action: `/account/passkeys/${id}/remove`,
        button: 'Remove',
      });
    })
    .post('/:id/remove', async (c) => {
      requireRecentProof(c);
      try {
        await removePasskey(tools, ownAccount(c), c.req.param('id'));
        return done(c, 'The passkey is removed.');
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'last_way_in') throw error;
        return redirectWith(c, '/account', error.message, 'failed');
      }
    });

/** The browser's answer counts for the session that asked for it. */
async function add(c: Context<MemberEnv>, tools: MemberTools) {
  requireRecentProof(c);
  const relyingParty = getRelyingParty(tools);
  const pending = await consumeHandshake(c, tools, { kind: 'passkey', data: NewChallenge });
  const form = await readForm(c, NewPasskeyForm);
  if (form.errors) return showNewPasskey(c, form);
  const { name, credential } = form.values;
  if (pending?.adds === c.var.member.sessionId) {
    const answer = { credential, challenge: pending.challenge, name };
    if (await addPasskey({ db: tools.db, relyingParty }, ownAccount(c), answer))
      return done(c, 'The passkey is added. You can sign in with it from now on.');
  }
  const text = 'The passkey was not accepted. Try again.';
  return redirectWith(c, '/account/passkeys/new', text, 'failed');
}

function showNewPasskey(c: Context, form: FormState = emptyForm()) {
  const body = (
    <div class="narrow">
      <FormErrors form={form} />
      <p class="soft">{passkeysAbout}</p>
      <PasskeyForm
        kind="create"
        action="/account/passkeys"
        options="/account/passkeys/options"
        button="Add a passkey"
        primary
      >
        <Field
          name="name"
          label="Name"
          form={form}
          value={deviceName(c.req.header('User-Agent') ?? null)}
          help="What you will know it by, such as the device it is on."
          required
        />
      </PasskeyForm>
    </div>
  );
  return renderAccount(c, { title: 'Add a passkey', body, form });
}

function showName(c: Context, { id, name }: ListedPasskey, form = emptyForm()) {
  const body = (
    <form method="post" action={`/account/passkeys/${id}/name`} class="fields narrow">
      <FormErrors form={form} />
      <Field name="name" label="Name" form={form} value={name} required />
      <div class="actions">
        <Submit>Save</Submit>
      </div>
    </form>
  );
  return renderAccount(c, { title: 'Rename', body, form });
}

async function getPasskey(c: Context<MemberEnv>, { db }: MemberTools) {
  const passkeys = await listPasskeys(db, c.var.member.id);
  const passkey = passkeys.find(({ id }) => id === c.req.param('id'));
  if (!passkey) throw notFound('passkey');
  return passkey;
}

const RecoveryShown = v.object({ codes: v.array(v.string()) });

/** `/account/codes`: switch one-time codes on and off. They are the second step of passwords. */
export const accountCodeScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .use(async (_, next) => {
      if (!tools.settings.signIn.byPassword) throw notFound('page');
      await next();
    })
    .get('/recovery', (c) => showRecovery(c, tools))
    .use(recentProof)
    .post('/', async (c) => {
      await createTotpSecret(tools, c.var.member.id);
      return c.redirect('/account/codes/new', 303);
    })
    .get('/new', (c) => showNew(c, tools))
    .post('/new', (c) => switchOn(c, tools))

    .get('/renew', (c) =>
      showConfirm(c, {
        title: 'Make new recovery codes',
        means: 'The recovery codes until now stop working.',
        action: '/account/codes/renew',
        button: 'New recovery codes',
      }),
    )
    .post('/renew', async (c) =>
      redirectToRecoveryCodes(c, tools, await renewRecoveryCodes(tools.db, ownAccount(c))),
    )

    .get('/off', (c) =>
      showConfirm(c, {
        title: 'Switch one-time codes off',
        means:
          'Your password alone will sign you in. The key in your app and your recovery codes stop working.',
        action: '/account/codes/off',
        button: 'Switch off',
      }),
    )
    .post('/off', async (c) => {
      await turnOffCodes(tools.db, ownAccount(c));
      return done(c, 'One-time codes are off.');
    });

async function switchOn(c: Context<MemberEnv>, tools: MemberTools) {
  const form = await readForm(c, CodeForm);
  if (form.errors) return await showNew(c, tools, form);
  const proof = { account: `session ${c.var.member.sessionId}`, address: clientAddress(c) };
  const giveBack = await countProof(tools.db, proof);
  const codes = await turnOnCodes(tools, ownAccount(c), form.values.code);
  if (!codes) {
    const code =
      'This is not the code of this key. Check the clock of the phone, and try the next code.';
    return await showNew(c, tools, await withFieldError(c, { code }));
  }
  await giveBack();
  return redirectToRecoveryCodes(c, tools, codes);
}

/** The codes are on one page, once: the cookie that carries them there is sealed for this member. */
function redirectToRecoveryCodes(c: Context<MemberEnv>, { secrets }: MemberTools, codes: string[]) {
  setOneTimeSecret(c, secrets, recoveryReader(c), { codes });
  return c.redirect('/account/codes/recovery', 303);
}

const recoveryReader = (c: Context<MemberEnv>) => ({ orgId: 'account', memberId: c.var.member.id });

/** Redirects when no key waits for its first code. */
async function showNew(c: Context<MemberEnv>, tools: MemberTools, form = emptyForm()) {
  const { id, email } = c.var.member;
  const secret = await pendingSecret(tools, id);
  if (!secret) return c.redirect('/account', 303);
  const { host } = new URL(tools.publicUrl);
  const body = (
    <div class="columns even">
      <section aria-labelledby="scan">
        <h2 id="scan">Scan this with your authenticator app</h2>
        <p class="soft">
          Any app for one-time codes will do. Where it cannot scan, type the key below into it.
        </p>
        <QrCode
          text={totpUrl(secret, email, `askback ${host}`)}
          title="QR code of the key for the authenticator app"
        />
        <p>
          Key: <code id="key">{formatSecret(secret)}</code> <CopyButton from="key" />
        </p>
      </section>
      <form method="post" action="/account/codes/new" class="fields narrow">
        <FormErrors form={form} />
        <Field
          name="code"
          label="Code"
          form={form}
          help="The six digits that the app shows now. They prove that it has the key."
          inputmode="numeric"
          autocomplete="one-time-code"
          required
        />
        <div class="actions">
          <Submit>Switch on</Submit>
        </div>
      </form>
    </div>
  );
  return renderAccount(c, { title: 'One-time codes', body, form });
}

function showRecovery(c: Context<MemberEnv>, { secrets }: MemberTools) {
  const shown = v.safeParse(RecoveryShown, takeOneTimeSecret(c, secrets, recoveryReader(c)));
  if (!shown.success) return c.redirect('/account', 303);
  const body = (
    <section class="shown-once" aria-labelledby="codes">
      <h2 id="codes">Store your recovery codes</h2>
      <p>
        Each signs you in once without your phone. They are shown only now: store them where your
        password is not.
      </p>
      <pre id="recovery">{shown.output.codes.join('\n')}</pre>
      <div class="actions">
        <CopyButton from="recovery" />
        <LinkButton href="/account" text="I have stored them" kind="primary" />
      </div>
    </section>
  );
  return renderAccount(c, { title: 'One-time codes are on', body });
}

export const ownAccount = (c: Context<MemberEnv>): OwnAccount => ({
  memberId: c.var.member.id,
  actor: actorOf(c),
});

export const done = (c: Context, text: string) => redirectWith(c, '/account', text);

type BelowAccount = { title: string; body: Child; form?: FormState };

function renderAccount(c: Context, { form = emptyForm(), ...page }: BelowAccount) {
  const trail = [{ text: 'Account', href: '/account' }];
  return renderScreen(c, { ...page, section: 'account', trail, status: statusOf(form) });
}

type ConfirmScreen = { title: string; means: string; action: string; button: string };

export function showConfirm(c: Context, { title, means, action, button }: ConfirmScreen) {
  const body = (
    <Confirm action={action} button={button} cancel="/account">
      <p>{means}</p>
    </Confirm>
  );
  return renderAccount(c, { title, body });
}
