import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { notFound, Refusal, whenRefused } from '../../errors.ts';
import { OneOf } from '../../lib/cli/command.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import type { RequestEnv } from '../../lib/http/http.ts';
import { idParam } from '../../lib/validation/parse.ts';
import { findSession } from '../../sessions/queries.ts';
import {
  hashToken,
  memberActor,
  readSessionHash,
  requireProvedOwner,
  requireRole,
  type ScreenEnv,
  type SignedInMember,
  withNext,
} from '../../sessions/session.ts';
import { Actions, Confirm, Mistakes, Secret, State, Time } from '../../web/app/badges.tsx';
import { keepOnce, redirectWith, takeOnce } from '../../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  type FormState,
  readForm,
  Select,
  Submit,
  statusOf,
  withMistake,
} from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState, Pager } from '../../web/app/lists.tsx';
import { renderAlone } from '../../web/app/screen.tsx';
import { Part, renderSettings, settingPath } from '../../web/app/settings-screen.tsx';
import {
  EmailField,
  invitationError,
  inviteMember,
  joinAsMember,
  joinAsNewMember,
  NameField,
  NewPasswordField,
  withdrawInvitation,
} from '../invite.ts';
import { refusePassword } from '../password.ts';
import {
  findCredentials,
  findInvitation,
  findLink,
  findMemberRole,
  type ListedMember,
  type LiveLink,
  listInvitations,
  listMembers,
  type MemberRole,
  type PendingInvitation,
} from '../queries.ts';
import { changeRole, removeMember } from '../roles.ts';
import type { SignInTools } from '../sign-in.ts';
import { NewPassword } from './reset.tsx';

const lastOwner = 'This is the last owner. Make another member an owner first.';

type MemberScreenTools = {
  db: Db;
  secrets: Secrets;
  publicUrl: string;
  /** No mail server is set: mails reach the built-in mailbox only. */
  mailbox: boolean;
};

const roles = ['viewer', 'editor', 'owner'] as const;
const InviteForm = v.object({ email: EmailField, role: OneOf(roles) });
const RoleForm = v.object({ role: OneOf(roles) });
const MadeLink = v.object({ url: v.string() });

/** Settings, Members: below `/o/:slug/settings/members`, for owners. */
export const memberScreens = (tools: MemberScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showList(c, tools))

    .post('/', async (c) => {
      const owner = requireProvedOwner(c);
      const form = await readForm(c, InviteForm);
      if (form.errors) return await showList(c, tools, form);
      // An owner who sees the link could take an address before its person comes; operators run the deployment.
      const isShown = c.var.member.isOperator;
      const invitation = { ...form.values, isShown };
      const made = await inviteMember({ ...tools, mails: true }, owner, invitation).catch(
        invitationError,
      );
      if (typeof made === 'string') {
        return await showList(c, tools, await withMistake(c, { email: made }));
      }
      if (isShown) keepOnce(c, tools.secrets, owner, { url: made.url });
      return redirectWith(
        c,
        listPath(c),
        tools.mailbox
          ? 'The invitation was made, and goes to no address, because no mail server is set. An operator of this server can read it in the built-in mailbox and hand its link over.'
          : 'The invitation is on its way.',
      );
    })

    .get('/:id/role', async (c) => showRole(c, await getMember(c, tools)))
    .post('/:id/role', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const form = await readForm(c, RoleForm);
      if (form.errors) return showRole(c, member, form);
      const change = { memberId: member.id, role: form.values.role };
      const changed = await changeRole(tools.db, owner, change).catch(whenRefused('last_owner'));
      if (!changed) return showRole(c, member, await withMistake(c, { role: lastOwner }));
      const path = member.id === owner.memberId ? '/' : listPath(c);
      return redirectWith(c, path, 'The role was changed.');
    })

    .get('/:id/remove', async (c) => showRemove(c, await getMember(c, tools)))
    .post('/:id/remove', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const removal = removeMember(tools.db, owner, member.id);
      if (!(await removal.catch(whenRefused('last_owner'))))
        return showRemove(c, member, { typed: {}, errors: { '': lastOwner } });
      const path = member.id === owner.memberId ? '/' : listPath(c);
      return redirectWith(c, path, 'The member was removed.');
    })

    .get('/invitations/:id/withdraw', async (c) => {
      const { orgId } = requireProvedOwner(c);
      const invitation = await findInvitation(tools.db, orgId, idParam(c, 'member'));
      if (!invitation) throw notFound('invitation');
      return showWithdraw(c, invitation);
    })
    .post('/invitations/:id/withdraw', async (c) => {
      const owner = requireProvedOwner(c);
      await withdrawInvitation(tools.db, owner, idParam(c, 'member'));
      return redirectWith(c, listPath(c), 'The invitation was withdrawn.');
    });

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'members');

/** The proof is asked for at the page before the act already, so that nothing typed is lost. */
async function getMember(c: Context<ScreenEnv>, { db }: MemberScreenTools): Promise<MemberRole> {
  const { orgId } = requireProvedOwner(c);
  const member = await findMemberRole(db, orgId, idParam(c, 'member'));
  if (!member) throw notFound('member');
  return member;
}

async function showList(
  c: Context<ScreenEnv>,
  { db, secrets, mailbox }: MemberScreenTools,
  form: FormState = emptyForm(),
) {
  const owner = requireRole(c, 'owner');
  const { orgId, memberId } = owner;
  const made = v.safeParse(MadeLink, takeOnce(c, secrets, owner));
  const lists = {
    members: await listMembers(db, orgId),
    invitations: await listInvitations(db, orgId),
    made: made.success ? made.output.url : null,
    mailbox,
  };
  const body = <MemberList path={listPath(c)} reader={memberId} form={form} {...lists} />;
  return await renderSettings(c, { setting: 'members', body, status: statusOf(form) });
}

function showRole(c: Context<ScreenEnv>, member: MemberRole, form = emptyForm()) {
  const title = `Change the role of ${member.name}`;
  const body = (
    <Part id="role" title={title}>
      <form method="post" class="fields measure">
        <Mistakes form={form} />
        <p>The new role holds from the very next page.</p>
        <Choice name="role" label="Role" form={form} value={member.role} options={roleOptions} />
        <div class="actions">
          <Submit>Change role</Submit>
          <a class="more" href={listPath(c)}>
            Cancel
          </a>
        </div>
      </form>
    </Part>
  );
  return showBelow(c, { title, body, form });
}

function showRemove(c: Context<ScreenEnv>, member: MemberRole, form = emptyForm()) {
  const title = `Remove ${member.name}`;
  const action = `${listPath(c)}/${member.id}/remove`;
  const body = (
    <Part id="remove" title={title}>
      <Confirm action={action} button="Remove" cancel={listPath(c)} form={form}>
        <p>
          {member.name} loses access to this organization at once. What {member.name} has made
          stays, and so does the account with its other organizations.
        </p>
      </Confirm>
    </Part>
  );
  return showBelow(c, { title, body, form });
}

type BelowMembers = { title: string; body: Child; form?: FormState };

function showBelow(c: Context<ScreenEnv>, { form = emptyForm(), ...page }: BelowMembers) {
  const trail = [{ text: 'Members', href: listPath(c) }];
  return renderSettings(c, { ...page, setting: 'members', trail, status: statusOf(form) });
}

function showWithdraw(c: Context<ScreenEnv>, { id, email }: { id: string; email: string }) {
  const action = `${listPath(c)}/invitations/${id}/withdraw`;
  const body = (
    <Part id="withdraw" title="Withdraw the invitation">
      <Confirm action={action} button="Withdraw" cancel={listPath(c)}>
        <p>The link that {email} got stops working.</p>
      </Confirm>
    </Part>
  );
  return showBelow(c, { title: 'Withdraw the invitation', body });
}

const roleMeanings = {
  viewer: 'Sees answers, contacts, surveys, summaries and deliveries.',
  editor: 'Also makes and sends surveys, releases answers, and runs webhooks.',
  owner: 'Also has API keys, members, settings, erasing and the audit log.',
} as const;

type MemberListProps = {
  path: string;
  reader: string;
  members: readonly ListedMember[];
  invitations: readonly PendingInvitation[];
  made: string | null;
  mailbox: boolean;
  form: FormState;
};

function MemberList(props: MemberListProps) {
  const { path, made, mailbox, form, invitations } = props;
  return (
    <>
      {made ? (
        <Secret title="The link of the invitation" label="Invitation link" value={made} done={path}>
          <p>
            {mailbox
              ? 'It is shown only this once. No mail server is set, so hand it over yourself: it lets its reader join in the name of the invited address.'
              : 'It was mailed as well, and is shown only this once. You may hand it over yourself: it lets its reader join in the name of the invited address.'}
          </p>
        </Secret>
      ) : null}
      <Part id="members" title="Members">
        <Members {...props} />
      </Part>
      <Part id="pending" title="Invitations that wait">
        {invitations.length > 0 ? (
          <Invitations path={path} invitations={invitations} />
        ) : (
          <EmptyState title="No invitation waits for an answer." />
        )}
      </Part>
      <Part id="invite" title="Invite a member">
        <NewMemberForm action={path} form={form} />
      </Part>
    </>
  );
}

const change = { head: 'Change', hidden: true };
const memberColumns = [
  ...['Name', 'Email', 'Role', 'Second step', 'Last seen'].map((head) => ({ head })),
  change,
];

function Members({ path, reader, members }: MemberListProps) {
  const rows = members.map((member) => ({
    cells: [
      <>
        <bdi>{member.name}</bdi>
        {member.id === reader ? <span class="soft"> (you)</span> : null}
      </>,
      <bdi>{member.email}</bdi>,
      member.role,
      member.has_second_step ? <State kind="fine">on</State> : <span class="soft">off</span>,
      member.last_used_at ? (
        <Time at={member.last_used_at} show="ago" />
      ) : (
        <span class="soft">never</span>
      ),
      <Acts path={`${path}/${member.id}`} name={member.name} />,
    ],
  }));
  return (
    <>
      <DataTable caption="Members of the organization" columns={memberColumns} rows={rows} />
      <Pager summary={counted(members.length, 'member')} />
    </>
  );
}

function Acts({ path, name }: { path: string; name: string }) {
  return (
    <Actions>
      <a class="more" href={`${path}/role`}>
        Change role
        <span class="hidden"> of {name}</span>
      </a>
      <a class="more" href={`${path}/remove`}>
        Remove
        <span class="hidden"> {name}</span>
      </a>
    </Actions>
  );
}

const invitationColumns = [...['Email', 'Role', 'Works until'].map((head) => ({ head })), change];

function Invitations({ path, invitations }: Pick<MemberListProps, 'path' | 'invitations'>) {
  const rows = invitations.map(({ id, email, role, expires_at }) => ({
    cells: [
      <bdi>{email}</bdi>,
      role,
      <Time at={expires_at} />,
      <a class="button" href={`${path}/invitations/${id}/withdraw`}>
        Withdraw
        <span class="hidden"> the invitation of {email}</span>
      </a>,
    ],
  }));
  return <DataTable caption="Invitations that wait" columns={invitationColumns} rows={rows} />;
}

const roleOptions = roles.map((role) => ({
  value: role,
  text: role,
  help: roleMeanings[role],
}));

function NewMemberForm({ action, form }: { action: string; form: FormState }) {
  return (
    <form method="post" action={action} class="fields measure">
      <Mistakes form={form} />
      <p class="soft">A mail with a link goes to the address. It works once, within 7 days.</p>
      <Field name="email" label="Email" form={form} type="email" autocomplete="off" required />
      <Select
        name="role"
        label="Role"
        form={form}
        value="viewer"
        options={roleOptions}
        help={roleOptions.map(({ text, help }) => (
          <span class="block">
            {text}: {help}
          </span>
        ))}
      />
      <Submit>Invite</Submit>
    </form>
  );
}

const hasAccountText = (email: string) =>
  `There is an account for ${email}. Sign in with it to join.`;

type InvitationTools = SignInTools & { settings: { signIn: { byPassword: boolean } } };

const JoinForm = v.object({ name: NameField, password: NewPasswordField });

/** `/invitations/:token`: a new account, or a member who is signed in, joins. */
export const invitationScreens = (tools: InvitationTools) =>
  new Hono<RequestEnv>()
    .get('/invitations/:token', async (c) => showInvitation(c, await openInvitation(tools, c)))
    .post('/invitations/:token', async (c) => {
      const token = c.req.param('token');
      const opened = await openInvitation(tools, c);
      const { link, member, way } = opened;
      if (way === 'join' && member) {
        const actor = memberActor(member, c.var.requestId);
        return joined(c, await joinAsMember(tools.db, { token, member, actor }));
      }
      if (way !== 'new') throw new Refusal('forbidden', hasAccountText(link.email ?? ''));
      const form = await readForm(c, JoinForm);
      if (form.errors) return showInvitation(c, opened, form);
      const { name, password } = form.values;
      const refused = refusePassword(password, { name, email: link.email ?? '' });
      if (refused) return showInvitation(c, opened, await withMistake(c, { password: refused }));
      return joined(c, await joinAsNewMember(tools, c, { token, name, password }));
    });

function joined(c: Context, link: LiveLink | undefined) {
  if (!link) throw gone();
  if (!link.organization) return c.redirect('/', 303);
  return redirectWith(c, '/', `You have joined ${link.organization}.`);
}

const gone = () =>
  new Refusal(
    'gone',
    'This invitation no longer works: it was used, withdrawn or replaced, or seven days have passed. Ask an owner of the organization to invite you again.',
    { code: 'first_link_over' },
  );

type OpenedInvitation = {
  link: LiveLink;
  member: SignedInMember | undefined;
  way: 'new' | 'join' | 'sign_in';
};

async function openInvitation(tools: InvitationTools, c: Context): Promise<OpenedInvitation> {
  const { db, publicUrl, settings } = tools;
  const link = await findLink(db, 'invitation', hashToken(c.req.param('token') ?? ''));
  if (!link) throw gone();
  const hash = readSessionHash(c, publicUrl);
  const member = hash && (await findSession(db, hash))?.member;
  if (member && member.email.toLowerCase() === link.email?.toLowerCase()) {
    return { link, member, way: 'join' };
  }
  const hasAccount = (await findCredentials(db, link.email ?? '')) !== undefined;
  const way = hasAccount || !settings.signIn.byPassword ? 'sign_in' : 'new';
  return { link, member, way };
}

function showInvitation(
  c: Context,
  { link, member, way }: OpenedInvitation,
  form: FormState = emptyForm(),
) {
  const email = link.email ?? '';
  const place = link.organization ?? 'askback';
  const signIn = withNext('/sign-in', new URL(c.req.url).pathname);
  const body = (
    <>
      <p>
        {link.role
          ? `You are invited to ${place} as ${link.role}.`
          : 'You are invited to run this server as an operator.'}
      </p>
      {way === 'new' ? null : (
        <p class="soft">
          {way === 'join' ? `The invitation is for ${email}.` : hasAccountText(email)}
        </p>
      )}
      {way === 'new' ? <NewAccount form={form} email={email} /> : null}
      {way === 'join' ? (
        <form method="post" class="fields">
          <Submit>Join</Submit>
        </form>
      ) : null}
      {way === 'sign_in' && member ? (
        <p class="soft">
          You are signed in as {member.email}, and the invitation is for another address.
        </p>
      ) : null}
      {way === 'sign_in' ? (
        <p>
          <a class="button primary" href={signIn}>
            Sign in
          </a>
        </p>
      ) : null}
    </>
  );
  return renderAlone(c, { title: `Join ${place}`, body, status: statusOf(form) });
}

function NewAccount({ form, email }: { form: FormState; email: string }) {
  return (
    <form method="post" class="fields">
      <Mistakes form={form} />
      <Field name="username" label="Email" value={email} autocomplete="username" readonly />
      <Field name="name" label="Name" form={form} autocomplete="name" required />
      <NewPassword name="password" label="Password" form={form} />
      <Submit>Create account</Submit>
    </form>
  );
}
