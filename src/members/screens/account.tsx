import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { actorOf } from '../../audit/acts.ts';
import { notFound, orNotFound, Refusal } from '../../errors.ts';
import { clientAddress } from '../../lib/http/client-address.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { type ListedSession, listSessions } from '../../sessions/queries.ts';
import {
  type MemberEnv,
  recentProof,
  requireRecentProof,
  signedIn,
} from '../../sessions/session.ts';
import {
  Confirm,
  CopyButton,
  FormErrors,
  LastUsed,
  Notice,
  Part,
  State,
  Time,
} from '../../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../../web/app/flash.ts';
import {
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Submit,
  SubmitOrCancel,
  withFieldError,
} from '../../web/app/forms.tsx';
import { counted, DataTable } from '../../web/app/lists.tsx';
import { renderScreen, type Screen } from '../../web/app/screen.tsx';
import { QrCode } from '../../web/qr-code.tsx';
import {
  type AccountProofs,
  changeName,
  changePassword,
  deviceName,
  endSessions,
  readProofs,
} from '../account.ts';
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
import { changeEmail, getNewEmail, requestEmail } from '../email.ts';
import { EmailField, NameField, NewPasswordField, PasswordField } from '../invite.ts';
import {
  addPasskey,
  createRegistrationOptions,
  findRelyingParty,
  type ListedPasskey,
  listPasskeys,
  removePasskey,
} from '../passkeys.ts';
import { validatePassword } from '../password.ts';
import { consumeHandshake, type MemberTools, setHandshake } from '../sign-in.ts';
import { AccountName, CurrentPassword, NewPassword } from './reset.tsx';
import { CodeForm, getPasskeyTools, PasskeyForm } from './sign-in.tsx';

const NameForm = v.object({ name: NameField });

/** `/account`: name, email, credentials and sessions of the member. */
export const accountScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .use(signedIn(tools))
    .get('/', (c) => showAccount(c, tools))
    .post('/name', async (c) => {
      const form = await readForm(c, NameForm);
      if (form.errors) return await showAccount(c, tools, { name: form });
      await changeName(tools.db, ownAccount(c), form.values.name);
      return redirectToAccount(c, 'Name saved.');
    })
    .post('/password', (c) => setPassword(c, tools))
    .post('/sessions/end', async (c) => {
      await endSessions(tools.db, ownAccount(c), { except: c.var.member.sessionId });
      return redirectToAccount(c, 'You were signed out of all other sessions.');
    })
    .post('/sessions/:id/end', async (c) => {
      await endSessions(tools.db, ownAccount(c), { id: idParam(c, 'session') });
      return redirectToAccount(c, 'Session ended.');
    })
    .route('/email', emailScreens(tools))
    .route('/passkeys', passkeyScreens(tools))
    .route('/codes', codeScreens(tools));

/** Setting the first password requires another recent proof, because there is no current password to check. */
async function setPassword(c: Context<MemberEnv>, tools: MemberTools) {
  if (!tools.settings.signIn.byPassword) throw notFound('page');
  const { member } = c.var;
  const { hasPassword } = await readProofs(tools.db, member.id);
  if (!hasPassword) requireRecentProof(c);
  const PasswordForm = v.object({
    current_password: hasPassword ? PasswordField : v.optional(v.undefined()),
    new_password: NewPasswordField,
  });
  const form = await readForm(c, PasswordForm);
  if (form.errors) return await showAccount(c, tools, { password: form });
  const { new_password: password, current_password: current } = form.values;
  const weakness = validatePassword(password, member);
  const change = { member, own: ownAccount(c), current, password };
  if (!weakness && (await changePassword(tools.db, c, change)))
    return redirectToAccount(c, 'Password changed. You were signed out of your other sessions.');
  const errors = weakness
    ? { new_password: weakness }
    : { current_password: 'This is not your current password.' };
  return await showAccount(c, tools, { password: await withFieldError(c, errors) });
}

async function showAccount(
  c: Context<MemberEnv>,
  tools: MemberTools,
  forms: { name?: FormState; password?: FormState } = {},
) {
  const { member } = c.var;
  const { byPassword } = tools.settings.signIn;
  const [proofs, passkeys, sessions] = await Promise.all([
    readProofs(tools.db, member.id),
    listPasskeys(tools.db, member.id),
    listSessions(tools.db, member.id),
  ]);
  const body = (
    <>
      <div class="grid half level">
        <ProfilePart {...member} proofs={proofs} form={forms.name} />
        {byPassword ? <PasswordPart {...member} proofs={proofs} form={forms.password} /> : null}
        {byPassword ? <CodesPart proofs={proofs} /> : null}
        <PasskeysPart
          passkeys={passkeys}
          isPossible={findRelyingParty(tools.publicUrl) !== undefined}
        />
      </div>
      <SessionsPart sessions={sessions} current={member.sessionId} />
    </>
  );
  const form = forms.name ?? forms.password;
  return renderScreen(c, { title: 'Account', section: 'account', body, form });
}

type FormPartProps = {
  name: string;
  email: string;
  proofs: AccountProofs;
  form: FormState | undefined;
};

function ProfilePart({ name, email, proofs, form = emptyForm() }: FormPartProps) {
  return (
    <Part id="profile" title="Profile">
      <form method="post" action="/account/name" class="card stack narrow">
        <FormErrors form={form} />
        <Field
          name="name"
          label="Name"
          form={form}
          value={name}
          help="Shown to colleagues next to your actions."
          autocomplete="name"
          required
        />
        <div class="acts">
          <button type="submit">Save</button>
        </div>
      </form>
      <hr class="gap" />
      <div class="spread">
        <div>
          <h3>Email</h3>
          <bdi>{email}</bdi>
          <p class="sub">For sign-in and notifications.</p>
        </div>
        <LinkButton href="/account/email" text="Change email" />
      </div>
      {proofs.pendingEmail ? (
        <p class="sub">
          Waiting for confirmation of <bdi>{proofs.pendingEmail}</bdi>. Open the link in the email
          sent there.
        </p>
      ) : null}
    </Part>
  );
}

function PasswordPart({ email, proofs: { hasPassword }, form = emptyForm() }: FormPartProps) {
  return (
    <Part id="password" title="Password">
      <p class="sub">
        {hasPassword
          ? 'A new password signs you out of your other sessions.'
          : 'Your account has no password. Set one to sign in with your email too.'}
      </p>
      <form method="post" action="/account/password" class="card stack narrow">
        <FormErrors form={form} />
        <AccountName email={email} />
        {hasPassword ? (
          <CurrentPassword name="current_password" label="Current password" form={form} />
        ) : null}
        <NewPassword name="new_password" label="New password" form={form} />
        <div class="acts">
          <button type="submit">{hasPassword ? 'Save' : 'Set a password'}</button>
        </div>
      </form>
    </Part>
  );
}

type SessionsPartProps = { sessions: readonly ListedSession[]; current: string };

function SessionsPart({ sessions, current }: SessionsPartProps) {
  const others = (
    <form method="post" action="/account/sessions/end">
      <button type="submit">End all others</button>
    </form>
  );
  const own = sessions.toSorted((one, other) => +(other.id === current) - +(one.id === current));
  return (
    <Part id="sessions" title="Sessions" act={sessions.length > 1 ? others : undefined}>
      <p class="sub">Browsers where you are signed in.</p>
      <DataTable
        caption="Sessions"
        columns={['Device', { head: 'Last used', before: 'Used ' }, 'IP address', actionColumn]}
        rows={own.map(({ id, user_agent, used_at, address }) => ({
          cells: [
            <>
              {deviceName(user_agent)}{' '}
              {id === current ? <State kind="fine">This browser</State> : null}
            </>,
            <Time at={used_at} show="ago" />,
            address ?? '',
            id === current ? null : (
              <form method="post" action={`/account/sessions/${id}/end`}>
                <button type="submit" class="mini" aria-label={`End ${deviceName(user_agent)}`}>
                  End
                </button>
              </form>
            ),
          ],
        }))}
      />
    </Part>
  );
}

const actionColumn = { head: 'Actions', hidden: true, number: true } as const;

type PasskeysPartProps = { passkeys: readonly ListedPasskey[]; isPossible: boolean };

/** `isPossible`: browsers offer passkeys at this public URL. */
function PasskeysPart({ passkeys, isPossible }: PasskeysPartProps) {
  const add = <LinkButton href="/account/passkeys/new" text="Add a passkey" />;
  return (
    <Part id="passkeys" title="Passkeys" act={isPossible ? add : undefined}>
      <p class="sub">
        {isPossible
          ? passkeysText
          : 'You can’t add passkeys here, because the address of this server isn’t https with a host name.'}
      </p>
      {passkeys.length === 0 ? null : (
        <DataTable
          caption="Passkeys"
          columns={[
            'Name',
            { head: 'Added', before: 'Added ' },
            { head: 'Last used', before: 'Used ' },
            actionColumn,
          ]}
          rows={passkeys.map(({ id, name, used_at, created_at }) => ({
            cells: [
              <bdi>{name}</bdi>,
              <Time at={created_at} show="day" />,
              <LastUsed at={used_at} />,
              <LinkButton
                href={`/account/passkeys/${id}/remove`}
                text="Remove"
                about={name}
                kind="danger"
                mini
              />,
            ],
          }))}
        />
      )}
    </Part>
  );
}

function CodesPart({ proofs }: { proofs: AccountProofs }) {
  const { codesSince, recoveryCodes } = proofs;
  if (!codesSince) {
    return (
      <Part id="codes" title="Two-step verification" act={<State kind="skipped">Off</State>}>
        <p class="sub">
          After your password, sign-in asks for a code from an app on your phone. Then a stolen
          password isn’t enough to get in.
        </p>
        <form method="post" action="/account/codes" class="acts">
          <button type="submit">Turn on</button>
        </form>
      </Part>
    );
  }
  return (
    <Part id="codes" title="Two-step verification">
      <p>
        <State kind="fine">
          <span>
            On since <Time at={codesSince} show="day" />
          </span>
        </State>
      </p>
      {recoveryCodes === 0 ? (
        <Notice
          kind="warning"
          text="No recovery codes left. Create new ones: without them you can’t sign in if you lose your phone."
        />
      ) : (
        <p class="sub">
          {counted(recoveryCodes, 'recovery code')} left. Use one if you lose your phone. Each works
          once.
        </p>
      )}
      <div class="acts">
        <LinkButton href="/account/codes/renew" text="New recovery codes" />
        <LinkButton href="/account/codes/off" text="Turn off" kind="danger" />
      </div>
    </Part>
  );
}

const EmailForm = v.object({ email: EmailField });

/** `/account/email`: changed by a link that is mailed to the new address. */
const emailScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .get('/', recentProof, async (c) => {
      await requireOwnSignIn(c, tools);
      return showNewEmail(c);
    })
    .post('/', recentProof, async (c) => {
      await requireOwnSignIn(c, tools);
      const form = await readForm(c, EmailForm);
      if (form.errors) return showNewEmail(c, form);
      const { id: memberId, email: current } = c.var.member;
      const { email } = form.values;
      if (email === current)
        return showNewEmail(c, await withFieldError(c, { email: 'This is already your email.' }));
      await requestEmail(tools, c, { memberId, email });
      const text = tools.mailbox
        ? "No mail server is set up. The link to confirm is in this server's built-in mailbox, which its operator can read."
        : 'Open the link that we sent to your new email. Until then, your email stays the same.';
      return redirectToAccount(c, text);
    })
    .get('/:token', async (c) => {
      const own = { memberId: c.var.member.id, token: c.req.param('token') };
      return showEmailChange(c, await getNewEmail(tools.db, own));
    })
    .post('/:token', async (c) => {
      await changeEmail(tools.db, ownAccount(c), c.req.param('token'));
      return redirectToAccount(c, 'Email changed. Sign in with it from now on.');
    });

/**
 * A member who can only sign in at the provider keeps its email. With another one, "Forgot password?" would let the
 * member in after removal at the provider.
 */
async function requireOwnSignIn(c: Context<MemberEnv>, { db, settings }: MemberTools) {
  const { byPassword, oidc } = settings.signIn;
  const { hasPassword, passkeys, ssoIssuer } = await readProofs(db, c.var.member.id);
  if (!ssoIssuer || passkeys > 0 || (byPassword && hasPassword)) return;
  const text = `You sign in only with ${oidc?.name ?? 'single sign-on'}, so your email comes from there. To change it here, add a passkey${byPassword ? ' or set a password' : ''} first.`;
  throw new Refusal('forbidden', text);
}

function showNewEmail(c: Context<MemberEnv>, form = emptyForm()) {
  const body = (
    <form method="post" action="/account/email" class="card stack narrow">
      <FormErrors form={form} />
      <p class="soft">
        Your email is <bdi>{c.var.member.email}</bdi>. We send a link to the new one. You stay
        signed in everywhere, and your old email gets a notice.
      </p>
      <Field
        name="email"
        label="New email"
        type="email"
        form={form}
        help="You sign in with it, and your notifications go there. The link works for 24 hours."
        autocomplete="email"
        required
      />
      <SubmitOrCancel button="Send link" cancel="/account" />
    </form>
  );
  return renderAccount(c, { title: 'Change email', body, form });
}

function showEmailChange(c: Context<MemberEnv>, email: string) {
  const body = (
    <form method="post" class="card stack narrow">
      <p>
        From now on you sign in with <bdi>{email}</bdi> instead of <bdi>{c.var.member.email}</bdi>.
      </p>
      <SubmitOrCancel button="Change email" cancel="/account" />
    </form>
  );
  return renderAccount(c, { title: 'Change email', body });
}

const passkeysText =
  'Sign in with your fingerprint, your face or a security key instead of a password.';

const NewPasskeyForm = v.object({ name: NameField, credential: v.string() });
const NewChallenge = v.object({ challenge: v.string(), adds: v.string() });

/** `/account/passkeys`: add and remove. */
const passkeyScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .use(recentProof)
    .get('/new', (c) => {
      getPasskeyTools(tools);
      return showNewPasskey(c);
    })
    .post('/options', async (c) => {
      const options = await createRegistrationOptions(getPasskeyTools(tools), c.var.member);
      const data = { challenge: options.challenge, adds: c.var.member.sessionId };
      setHandshake(c, tools, { kind: 'passkey', data });
      c.header('Cache-Control', 'no-store');
      return c.json(options);
    })
    .post('/', (c) => addNewPasskey(c, tools))
    .get('/:id/remove', async (c) => {
      const passkeys = await listPasskeys(tools.db, c.var.member.id);
      const passkey = passkeys.find(({ id }) => id === c.req.param('id'));
      const { id, name } = orNotFound(passkey, 'passkey');
      return showConfirm(c, {
        title: `Remove the passkey “${name}”`,
        text: 'You can no longer sign in with it. Delete it on your device too.',
        action: `/account/passkeys/${id}/remove`,
        button: 'Remove',
      });
    })
    .post('/:id/remove', async (c) => {
      try {
        await removePasskey(tools, ownAccount(c), c.req.param('id'));
        return redirectToAccount(c, 'Passkey removed.');
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'last_way_in') throw error;
        return redirectWith(c, '/account', error.message, 'failed');
      }
    });

/** The browser's answer only counts in the session that requested it. */
async function addNewPasskey(c: Context<MemberEnv>, tools: MemberTools) {
  const passkeyTools = getPasskeyTools(tools);
  const pending = await consumeHandshake(c, tools, { kind: 'passkey', data: NewChallenge });
  const form = await readForm(c, NewPasskeyForm);
  if (form.errors) return showNewPasskey(c, form);
  const { name, credential } = form.values;
  if (pending?.adds === c.var.member.sessionId) {
    const answer = { credential, challenge: pending.challenge, name };
    if (await addPasskey(passkeyTools, ownAccount(c), answer))
      return redirectToAccount(c, 'Passkey added. You can now sign in with it.');
  }
  const text = 'The passkey was not accepted. Try again.';
  return redirectWith(c, '/account/passkeys/new', text, 'failed');
}

function showNewPasskey(c: Context, form = emptyForm()) {
  const body = (
    <div class="card stack narrow">
      <FormErrors form={form} />
      <p class="soft">{passkeysText}</p>
      <PasskeyForm
        kind="create"
        action="/account/passkeys"
        options="/account/passkeys/options"
        button="Add a passkey"
        cancel="/account"
      >
        <Field
          name="name"
          label="Name"
          form={form}
          value={deviceName(c.req.header('User-Agent') ?? null)}
          help="A name for this passkey, such as the device."
          required
        />
      </PasskeyForm>
    </div>
  );
  return renderAccount(c, { title: 'Add a passkey', body, form });
}

const RecoveryCodes = v.object({ codes: v.array(v.string()) });

/** `/account/codes`: two-step verification for passwords. */
const codeScreens = (tools: MemberTools) =>
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
    .post('/new', (c) => turnOn(c, tools))
    .get('/renew', (c) =>
      showConfirm(c, {
        title: 'Create new recovery codes',
        text: 'Your current recovery codes stop working.',
        action: '/account/codes/renew',
        button: 'New recovery codes',
      }),
    )
    .post('/renew', async (c) =>
      redirectToRecoveryCodes(c, tools, await renewRecoveryCodes(tools.db, ownAccount(c))),
    )
    .get('/off', (c) =>
      showConfirm(c, {
        title: 'Turn off two-step verification',
        text: 'You will sign in with your password alone. The key in your app and your recovery codes stop working.',
        action: '/account/codes/off',
        button: 'Turn off',
      }),
    )
    .post('/off', async (c) => {
      await turnOffCodes(tools.db, ownAccount(c));
      return redirectToAccount(c, 'Two-step verification is off.');
    });

async function turnOn(c: Context<MemberEnv>, tools: MemberTools) {
  const form = await readForm(c, CodeForm);
  if (form.errors) return await showNew(c, tools, form);
  const proof = { account: `session ${c.var.member.sessionId}`, address: clientAddress(c) };
  const uncount = await countProof(tools.db, proof);
  const codes = await turnOnCodes(tools, ownAccount(c), form.values.code);
  if (!codes) {
    const code = 'Wrong code. Check your phone’s clock and try the next code.';
    return await showNew(c, tools, await withFieldError(c, { code }));
  }
  await uncount();
  return redirectToRecoveryCodes(c, tools, codes);
}

/** Shows the codes once on the next page. The cookie that carries them is sealed for this member. */
function redirectToRecoveryCodes(c: Context<MemberEnv>, { secrets }: MemberTools, codes: string[]) {
  setOneTimeSecret(c, secrets, recoveryReader(c), { codes });
  return c.redirect('/account/codes/recovery', 303);
}

const recoveryReader = (c: Context<MemberEnv>) => ({ orgId: 'account', memberId: c.var.member.id });

async function showNew(c: Context<MemberEnv>, tools: MemberTools, form = emptyForm()) {
  const { id, email } = c.var.member;
  const secret = await pendingSecret(tools, id);
  if (!secret) return c.redirect('/account', 303);
  const { host } = new URL(tools.publicUrl);
  const body = (
    <div class="grid half">
      <section class="card" aria-labelledby="scan">
        <h2 id="scan">Scan this with your authenticator app</h2>
        <p class="soft">Any authenticator app works. If you can’t scan, type the key instead.</p>
        <QrCode
          text={totpUrl(secret, email, `askback ${host}`)}
          title="QR code for the authenticator app"
        />
        <p>
          Key: <code id="key">{formatSecret(secret)}</code> <CopyButton from="key" />
        </p>
      </section>
      <form method="post" action="/account/codes/new" class="card stack narrow">
        <FormErrors form={form} />
        <Field
          name="code"
          label="Code"
          form={form}
          help="The six digits that the app shows now."
          inputmode="numeric"
          autocomplete="one-time-code"
          required
        />
        <div class="acts">
          <Submit>Turn on</Submit>
        </div>
      </form>
    </div>
  );
  return renderAccount(c, { title: 'Two-step verification', body, form });
}

function showRecovery(c: Context<MemberEnv>, { secrets }: MemberTools) {
  const recovery = v.safeParse(RecoveryCodes, takeOneTimeSecret(c, secrets, recoveryReader(c)));
  if (!recovery.success) return c.redirect('/account', 303);
  const body = (
    <section class="card stack measure" aria-labelledby="codes">
      <h2 id="codes">Store your recovery codes</h2>
      <p>
        Each code signs you in once without your phone. You won’t see them again. Don’t store them
        with your password.
      </p>
      <pre id="recovery">{recovery.output.codes.join('\n')}</pre>
      <div class="acts">
        <CopyButton from="recovery" />
        <LinkButton href="/account" text="I have stored them" kind="primary" />
      </div>
    </section>
  );
  return renderAccount(c, { title: 'Two-step verification is on', body });
}

const ownAccount = (c: Context<MemberEnv>): OwnAccount => ({
  memberId: c.var.member.id,
  actor: actorOf(c),
});

const redirectToAccount = (c: Context, text: string) => redirectWith(c, '/account', text);

function renderAccount(c: Context, page: Pick<Screen, 'title' | 'body' | 'form'>) {
  const trail = [{ text: 'Account', href: '/account' }];
  return renderScreen(c, { ...page, section: 'account', trail });
}

type ConfirmScreen = { title: string; text: string; action: string; button: string };

function showConfirm(c: Context, { title, text, action, button }: ConfirmScreen) {
  const body = (
    <Confirm action={action} button={button} cancel="/account">
      <p>{text}</p>
    </Confirm>
  );
  return renderAccount(c, { title, body });
}
