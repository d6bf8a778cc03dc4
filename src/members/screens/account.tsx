import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { type ListedSession, listSessions } from '../../sessions/queries.ts';
import {
  type MemberEnv,
  recentProof,
  requireRecentProof,
  type SignedInMember,
  signedIn,
} from '../../sessions/session.ts';
import { FormErrors, Time } from '../../web/app/badges.tsx';
import {
  emptyForm,
  Field,
  type FormState,
  readForm,
  withFieldError,
} from '../../web/app/forms.tsx';
import { DataTable, Facts } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import {
  changeName,
  changePassword,
  deviceName,
  endOneSession,
  endOtherSessions,
  findProofs,
  unlinkSso,
} from '../account.ts';
import { NameField, NewPasswordField, PasswordField } from '../invite.ts';
import { findRelyingParty, listPasskeys } from '../passkeys.ts';
import { validatePassword } from '../password.ts';
import type { MemberTools } from '../sign-in.ts';
import { AccountName, CurrentPassword, NewPassword } from './reset.tsx';
import {
  accountCodeScreens,
  accountPasskeyScreens,
  CodesPart,
  done,
  ownAccount,
  PasskeysPart,
  SsoPart,
  showConfirm,
} from './second-factors.tsx';

const NameForm = v.object({ name: NameField });
/** `/account`: name, proofs and sessions of the member. */
export const accountScreens = (tools: MemberTools) =>
  new Hono<MemberEnv>()
    .use(signedIn(tools))
    .get('/', (c) => showAccount(c, tools))
    .post('/name', async (c) => {
      const form = await readForm(c, NameForm);
      if (form.errors) return await showAccount(c, tools, { name: form });
      await changeName(tools.db, ownAccount(c), form.values.name);
      return done(c, 'The name is saved.');
    })
    .post('/password', (c) => setPassword(c, tools))

    .post('/sessions/end', async (c) => {
      await endOtherSessions(tools.db, ownAccount(c), c.var.member.sessionId);
      return done(c, 'All other sessions have ended.');
    })
    .post('/sessions/:id/end', async (c) => {
      await endOneSession(tools.db, ownAccount(c), idParam(c, 'session'));
      return done(c, 'The session has ended.');
    })

    .use('/sso/*', recentProof)
    .get('/sso/remove', (c) =>
      showConfirm(c, {
        title: 'Remove the link',
        means:
          'The next sign-in there links the account again, with the person who has your address there.',
        action: '/account/sso/remove',
        button: 'Remove link',
      }),
    )
    .post('/sso/remove', async (c) => {
      await unlinkSso(tools.db, ownAccount(c));
      return done(c, 'The link is removed.');
    })

    .route('/passkeys', accountPasskeyScreens(tools))
    .route('/codes', accountCodeScreens(tools));

/** An account without a password gets its first one by another proof, which must be recent. */
async function setPassword(c: Context<MemberEnv>, tools: MemberTools) {
  if (!tools.settings.signIn.byPassword) throw notFound('page');
  const { member } = c.var;
  const { hasPassword = false } = (await findProofs(tools.db, member.id)) ?? {};
  if (!hasPassword) requireRecentProof(c);
  const PasswordForm = v.object({
    current_password: hasPassword ? PasswordField : v.optional(v.undefined()),
    new_password: NewPasswordField,
  });
  const form = await readForm(c, PasswordForm);
  if (form.errors) return await showAccount(c, tools, { password: form });
  const { new_password: password, current_password: current } = form.values;
  const refused = validatePassword(password, member);
  const change = { member, own: ownAccount(c), current, password };
  if (!refused && (await changePassword(tools.db, c, change)))
    return done(c, 'The password is changed. Your other sessions have ended.');
  const wrong = refused
    ? { new_password: refused }
    : { current_password: 'This is not your current password.' };
  return await showAccount(c, tools, { password: await withFieldError(c, wrong) });
}

type SentForms = { name?: FormState; password?: FormState };

async function showAccount(c: Context<MemberEnv>, tools: MemberTools, sent: SentForms = {}) {
  const { member } = c.var;
  const { byPassword, oidc } = tools.settings.signIn;
  const [proofs, passkeys, sessions] = await Promise.all([
    findProofs(tools.db, member.id),
    listPasskeys(tools.db, member.id),
    listSessions(tools.db, member.id),
  ]);
  if (!proofs) throw notFound('account');
  const body = (
    <div class="parts">
      <NamePart member={member} form={sent.name ?? emptyForm()} />
      {byPassword ? (
        <PasswordPart
          email={member.email}
          hasPassword={proofs.hasPassword}
          form={sent.password ?? emptyForm()}
        />
      ) : null}
      <PasskeysPart
        passkeys={passkeys}
        isPossible={findRelyingParty(tools.publicUrl) !== undefined}
      />
      {byPassword ? <CodesPart proofs={proofs} /> : null}
      <SsoPart proofs={proofs} oidc={oidc} />
      <SessionsPart sessions={sessions} current={member.sessionId} />
    </div>
  );
  const status = sent.name || sent.password ? 422 : 200;
  return renderScreen(c, { title: 'Account', section: 'account', body, status });
}

function NamePart({ member, form }: { member: SignedInMember; form: FormState }) {
  return (
    <Part id="profile" title="Profile">
      <form method="post" action="/account/name" class="fields narrow">
        <FormErrors form={form} />
        <Field
          name="name"
          label="Name"
          form={form}
          value={member.name}
          help="Colleagues see it next to what you do."
          autocomplete="name"
          required
        />
        <Facts facts={[['Email', <bdi>{member.email}</bdi>]]} />
        <p class="small soft">The address you were invited by. It cannot be changed.</p>
        <div class="actions">
          <button type="submit">Save</button>
        </div>
      </form>
    </Part>
  );
}

type PasswordPartProps = { email: string; hasPassword: boolean; form: FormState };

function PasswordPart({ email, hasPassword, form }: PasswordPartProps) {
  return (
    <Part id="password" title="Password">
      <p class="small soft">
        {hasPassword
          ? 'A new password ends your other sessions.'
          : 'Your account has no password. With one you can sign in by email as well.'}
      </p>
      <form method="post" action="/account/password" class="fields narrow">
        <FormErrors form={form} />
        <AccountName email={email} />
        {hasPassword ? (
          <CurrentPassword name="current_password" label="Current password" form={form} />
        ) : null}
        <NewPassword name="new_password" label="New password" form={form} />
        <div class="actions">
          <button type="submit">{hasPassword ? 'Save' : 'Set a password'}</button>
        </div>
      </form>
    </Part>
  );
}

type SessionsPartProps = { sessions: readonly ListedSession[]; current: string };

function SessionsPart({ sessions, current }: SessionsPartProps) {
  const others = sessions.length > 1 && (
    <form method="post" action="/account/sessions/end">
      <button type="submit">End all others</button>
    </form>
  );
  return (
    <Part id="sessions" title="Sessions" act={others || undefined}>
      <p class="small soft">Browsers that are signed in as you.</p>
      <DataTable
        caption="Sessions"
        columns={[
          { head: 'Device' },
          { head: 'Last use' },
          { head: 'Since' },
          { head: 'Network' },
          { head: 'Acts', hidden: true, number: true },
        ]}
        rows={sessions.map(({ id, user_agent, used_at, created_at, address }) => ({
          current: id === current,
          cells: [
            <span title={user_agent ?? undefined}>
              {deviceName(user_agent)}
              {id === current ? <span class="soft">, this browser</span> : null}
            </span>,
            <Time at={used_at} show="ago" />,
            <Time at={created_at} show="day" />,
            address ?? '',
            id === current ? null : (
              <form method="post" action={`/account/sessions/${id}/end`}>
                <button type="submit" aria-label={`End ${deviceName(user_agent)}`}>
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
