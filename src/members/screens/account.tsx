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
import type { SignInSettings } from '../../settings.ts';
import { Mistakes, Time } from '../../web/app/badges.tsx';
import { emptyForm, Field, type FormState, readForm, withMistake } from '../../web/app/forms.tsx';
import { DataTable, Facts } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import { Part } from '../../web/app/settings-screen.tsx';
import {
  type AccountProofs,
  changeName,
  changePassword,
  deviceName,
  endOneSession,
  endOtherSessions,
  findProofs,
  unlinkSso,
} from '../account.ts';
import { NameField, NewPasswordField, PasswordField } from '../invite.ts';
import { type ListedPasskey, listPasskeys, passkeyPlace } from '../passkeys.ts';
import { refusePassword } from '../password.ts';
import { AccountName, CurrentPassword, NewPassword } from './reset.tsx';
import {
  type AccountScreenTools,
  accountCodeScreens,
  accountPasskeyScreens,
  CodesPart,
  done,
  ownOf,
  PasskeysPart,
  SsoPart,
  showConfirm,
} from './second-factors.tsx';

const NameForm = v.object({ name: NameField });
const passwordForm = (hasPassword: boolean) =>
  v.object({
    current_password: hasPassword ? PasswordField : v.optional(v.undefined()),
    new_password: NewPasswordField,
  });

/** `/account`: name, proofs and sessions of the member. */
export const accountScreens = (tools: AccountScreenTools) =>
  new Hono<MemberEnv>()
    .use(signedIn(tools))
    .get('/', (c) => showAccount(c, tools))
    .post('/name', async (c) => {
      const form = await readForm(c, NameForm);
      if (form.errors) return await showAccount(c, tools, { name: form });
      await changeName(tools.db, ownOf(c), form.values.name);
      return done(c, 'The name is saved.');
    })
    .post('/password', (c) => setPassword(c, tools))

    .post('/sessions/end', async (c) => {
      await endOtherSessions(tools.db, ownOf(c), c.var.member.sessionId);
      return done(c, 'All other sessions have ended.');
    })
    .post('/sessions/:id/end', async (c) => {
      await endOneSession(tools.db, ownOf(c), idParam(c, 'session'));
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
      await unlinkSso(tools.db, ownOf(c));
      return done(c, 'The link is removed.');
    })

    .route('/passkeys', accountPasskeyScreens(tools))
    .route('/codes', accountCodeScreens(tools));

/** An account without a password gets its first one by another proof, which must be recent. */
async function setPassword(c: Context<MemberEnv>, tools: AccountScreenTools) {
  if (!tools.settings.signIn.byPassword) throw notFound('page');
  const { member } = c.var;
  const { hasPassword = false } = (await findProofs(tools.db, member.id)) ?? {};
  if (!hasPassword) requireRecentProof(c);
  const form = await readForm(c, passwordForm(hasPassword));
  if (form.errors) return await showAccount(c, tools, { password: form });
  const { new_password: password, current_password: current } = form.values;
  const refused = refusePassword(password, member);
  const change = { member, own: ownOf(c), current, password };
  if (!refused && (await changePassword(tools.db, c, change)))
    return done(c, 'The password is changed. Your other sessions have ended.');
  const wrong = refused
    ? { new_password: refused }
    : { current_password: 'This is not your current password.' };
  return await showAccount(c, tools, { password: await withMistake(c, wrong) });
}

type SentForms = { name?: FormState; password?: FormState };

async function showAccount(c: Context<MemberEnv>, tools: AccountScreenTools, sent: SentForms = {}) {
  const { member } = c.var;
  const [proofs, passkeys, sessions] = await Promise.all([
    findProofs(tools.db, member.id),
    listPasskeys(tools.db, member.id),
    listSessions(tools.db, member.id),
  ]);
  if (!proofs) throw notFound('account');
  const body = (
    <AccountPage
      {...{ member, proofs, passkeys, sessions, signIn: tools.settings.signIn }}
      hasPasskeys={passkeyPlace(tools.publicUrl) !== undefined}
      name={sent.name ?? emptyForm()}
      password={sent.password ?? emptyForm()}
    />
  );
  const status = sent.name || sent.password ? 422 : 200;
  return renderScreen(c, { title: 'Account', section: 'account', body, status });
}

type AccountPageProps = {
  member: SignedInMember;
  proofs: AccountProofs;
  passkeys: readonly ListedPasskey[];
  sessions: readonly ListedSession[];
  signIn: SignInSettings;
  /** Browsers have passkeys at the address of this service. */
  hasPasskeys: boolean;
  name: FormState;
  password: FormState;
};

function AccountPage(props: AccountPageProps) {
  const { member, proofs, passkeys, sessions, signIn, hasPasskeys } = props;
  return (
    <div class="parts">
      <NamePart member={member} form={props.name} />
      {signIn.byPassword ? <PasswordPart {...{ member, proofs }} form={props.password} /> : null}
      <PasskeysPart passkeys={passkeys} isPossible={hasPasskeys} />
      {signIn.byPassword ? <CodesPart proofs={proofs} /> : null}
      <SsoPart proofs={proofs} oidc={signIn.oidc} />
      <SessionsPart sessions={sessions} current={member.sessionId} />
    </div>
  );
}

function NamePart({ member, form }: { member: SignedInMember; form: FormState }) {
  return (
    <Part id="profile" title="Profile">
      <form method="post" action="/account/name" class="fields narrow">
        <Mistakes form={form} />
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

type PasswordPartProps = { member: SignedInMember; proofs: AccountProofs; form: FormState };

function PasswordPart({ member, proofs, form }: PasswordPartProps) {
  return (
    <Part id="password" title="Password">
      <p class="small soft">
        {proofs.hasPassword
          ? 'A new password ends your other sessions.'
          : 'Your account has no password. With one you can sign in by email as well.'}
      </p>
      <form method="post" action="/account/password" class="fields narrow">
        <Mistakes form={form} />
        <AccountName email={member.email} />
        {proofs.hasPassword ? (
          <CurrentPassword name="current_password" label="Current password" form={form} />
        ) : null}
        <NewPassword name="new_password" label="New password" form={form} />
        <div class="actions">
          <button type="submit">{proofs.hasPassword ? 'Save' : 'Set a password'}</button>
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
        rows={sessions.map((session) => ({
          current: session.id === current,
          cells: cellsOf(session, session.id === current),
        }))}
      />
    </Part>
  );
}

function cellsOf({ id, user_agent, used_at, created_at, address }: ListedSession, isThis: boolean) {
  const device = deviceName(user_agent);
  return [
    <span title={user_agent ?? undefined}>
      {device}
      {isThis ? <span class="soft">, this browser</span> : null}
    </span>,
    <Time at={used_at} show="ago" />,
    <Time at={created_at} show="day" />,
    address ?? '',
    isThis ? null : (
      <form method="post" action={`/account/sessions/${id}/end`}>
        <button type="submit" aria-label={`End ${device}`}>
          End
        </button>
      </form>
    ),
  ];
}
