import { type Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import * as v from 'valibot';
import { notFound, Refusal, whenRefused } from '../../errors.ts';
import { OneOf } from '../../lib/cli/command.ts';
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
  withNext,
} from '../../sessions/session.ts';
import { Actions, Confirm, FormErrors, Secret, State, Time } from '../../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  type FormState,
  LinkButton,
  readForm,
  Select,
  Submit,
  SubmitOrCancel,
  statusOf,
  withFieldError,
} from '../../web/app/forms.tsx';
import { counted, DataTable, EmptyState, Pager } from '../../web/app/lists.tsx';
import { renderStandalone } from '../../web/app/screen.tsx';
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
import { validatePassword } from '../password.ts';
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
} from '../queries.ts';
import { changeRole, removeMember } from '../roles.ts';
import type { MemberTools } from '../sign-in.ts';
import { BrowserZone, Email, NewPassword, ZoneField } from './reset.tsx';

const roleMeanings = {
  viewer: 'Sees answers, contacts, surveys, summaries and deliveries.',
  editor: 'Also makes and sends surveys, releases answers, and runs webhooks.',
  owner: 'Also has API keys, members, settings, erasing and the audit log.',
} as const;
const roles = ['viewer', 'editor', 'owner'] as const;
const roleOptions = roles.map((role) => ({ value: role, text: role, help: roleMeanings[role] }));

const RoleForm = v.object({ role: OneOf(roles) });
const InviteForm = v.object({ email: EmailField, role: OneOf(roles) });
const MadeLink = v.object({ url: v.string() });

/** Settings, Members: below `/o/:slug/settings/members`, for owners. */
export const memberScreens = (tools: MemberTools) =>
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
        return await showList(c, tools, await withFieldError(c, { email: made }));
      }
      if (isShown) setOneTimeSecret(c, tools.secrets, owner, { url: made.url });
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
      if (!changed) return showRole(c, member, await withFieldError(c, { role: lastOwner }));
      return leave(c, member, 'The role was changed.');
    })

    .get('/:id/remove', async (c) => showRemove(c, await getMember(c, tools)))
    .post('/:id/remove', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const removal = removeMember(tools.db, owner, member.id);
      if (!(await removal.catch(whenRefused('last_owner'))))
        return showRemove(c, member, { typed: {}, errors: { '': lastOwner } });
      return leave(c, member, 'The member was removed.');
    })

    .get('/invitations/:id/withdraw', async (c) => {
      const { orgId } = requireProvedOwner(c);
      const invitation = await findInvitation(tools.db, orgId, idParam(c, 'member'));
      if (!invitation) throw notFound('invitation');
      const body = (
        <Confirm
          action={`${listPath(c)}/invitations/${invitation.id}/withdraw`}
          button="Withdraw"
          cancel={listPath(c)}
        >
          <p>The link that {invitation.email} got stops working.</p>
        </Confirm>
      );
      return showBelow(c, { title: 'Withdraw the invitation', body });
    })
    .post('/invitations/:id/withdraw', async (c) => {
      const owner = requireProvedOwner(c);
      await withdrawInvitation(tools.db, owner, idParam(c, 'member'));
      return redirectWith(c, listPath(c), 'The invitation was withdrawn.');
    });

const lastOwner = 'This is the last owner. Make another member an owner first.';

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'members');

/** Owners who changed themselves may not see the list any more. */
const leave = (c: Context<ScreenEnv>, { id }: MemberRole, text: string) =>
  redirectWith(c, id === c.var.member.id ? '/' : listPath(c), text);

/** Asks for the proof on the page before the act, so that no input is lost. */
async function getMember(c: Context<ScreenEnv>, { db }: MemberTools): Promise<MemberRole> {
  const { orgId } = requireProvedOwner(c);
  const member = await findMemberRole(db, orgId, idParam(c, 'member'));
  if (!member) throw notFound('member');
  return member;
}

function showRole(c: Context<ScreenEnv>, { name, role }: MemberRole, form = emptyForm()) {
  const body = (
    <form method="post" class="fields measure">
      <FormErrors form={form} />
      <p>The new role holds from the very next page.</p>
      <Choice name="role" label="Role" form={form} value={role} options={roleOptions} />
      <SubmitOrCancel button="Change role" cancel={listPath(c)} />
    </form>
  );
  return showBelow(c, { title: `Change the role of ${name}`, body, form });
}

function showRemove(c: Context<ScreenEnv>, { id, name }: MemberRole, form = emptyForm()) {
  const action = `${listPath(c)}/${id}/remove`;
  const body = (
    <Confirm action={action} button="Remove" cancel={listPath(c)} form={form}>
      <p>
        {name} loses access to this organization at once. What {name} has made stays, and so does
        the account with its other organizations.
      </p>
    </Confirm>
  );
  return showBelow(c, { title: `Remove ${name}`, body, form });
}

type BelowMembers = { title: string; body: Child; form?: FormState };

function showBelow(c: Context<ScreenEnv>, { title, body, form = emptyForm() }: BelowMembers) {
  return renderSettings(c, {
    setting: 'members',
    title,
    body: (
      <Part id="act" title={title}>
        {body}
      </Part>
    ),
    trail: [{ text: 'Members', href: listPath(c) }],
    status: statusOf(form),
  });
}

async function showList(
  c: Context<ScreenEnv>,
  { db, secrets, mailbox }: MemberTools,
  form = emptyForm(),
) {
  const owner = requireRole(c, 'owner');
  const made = v.safeParse(MadeLink, takeOneTimeSecret(c, secrets, owner));
  const members = await listMembers(db, owner.orgId);
  const invitations = await listInvitations(db, owner.orgId);
  const path = listPath(c);
  const change = { head: 'Change', hidden: true };
  const columns = (...heads: string[]) => [...heads.map((head) => ({ head })), change];
  const body = (
    <>
      {made.success ? (
        <Secret
          title="The link of the invitation"
          label="Invitation link"
          value={made.output.url}
          done={path}
        >
          <p>
            {mailbox
              ? 'It is shown only this once. No mail server is set, so hand it over yourself: it lets its reader join in the name of the invited address.'
              : 'It was mailed as well, and is shown only this once. You may hand it over yourself: it lets its reader join in the name of the invited address.'}
          </p>
        </Secret>
      ) : null}
      <Part id="members" title="Members">
        <DataTable
          caption="Members of the organization"
          columns={columns('Name', 'Email', 'Role', 'Second step', 'Last seen')}
          rows={members.map((member) => ({
            cells: memberCells(member, { path, isReader: member.id === owner.memberId }),
          }))}
        />
        <Pager summary={counted(members.length, 'member')} />
      </Part>
      <Part id="pending" title="Invitations that wait">
        {invitations.length === 0 ? (
          <EmptyState title="No invitation waits for an answer." />
        ) : (
          <DataTable
            caption="Invitations that wait"
            columns={columns('Email', 'Role', 'Works until')}
            rows={invitations.map(({ id, email, role, expires_at }) => ({
              cells: [
                <bdi>{email}</bdi>,
                role,
                <Time at={expires_at} />,
                <LinkButton
                  href={`${path}/invitations/${id}/withdraw`}
                  text="Withdraw"
                  about={`the invitation of ${email}`}
                />,
              ],
            }))}
          />
        )}
      </Part>
      <Part id="invite" title="Invite a member">
        <form method="post" action={path} class="fields measure">
          <FormErrors form={form} />
          <p class="soft">A mail with a link goes to the address. It works once, within 7 days.</p>
          <Email form={form} autocomplete="off" />
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
      </Part>
    </>
  );
  return await renderSettings(c, { setting: 'members', body, status: statusOf(form) });
}

function memberCells(
  { id, name, email, role, has_second_step, last_used_at }: ListedMember,
  { path, isReader }: { path: string; isReader: boolean },
) {
  return [
    <>
      <bdi>{name}</bdi>
      {isReader ? <span class="soft"> (you)</span> : null}
    </>,
    <bdi>{email}</bdi>,
    role,
    has_second_step ? <State kind="fine">on</State> : <span class="soft">off</span>,
    last_used_at ? <Time at={last_used_at} show="ago" /> : <span class="soft">never</span>,
    <Actions>
      <LinkButton href={`${path}/${id}/role`} text="Change role" about={`of ${name}`} kind="more" />
      <LinkButton href={`${path}/${id}/remove`} text="Remove" about={name} kind="more" />
    </Actions>,
  ];
}

const hasAccountText = (email: string) =>
  `There is an account for ${email}. Sign in with it to join.`;

const ZoneForm = v.object({ time_zone: ZoneField });
const JoinForm = v.object({
  ...ZoneForm.entries,
  name: NameField,
  password: NewPasswordField,
});

/** `/invitations/:token`: a new account, or a member who is signed in, joins. */
export const invitationScreens = (tools: MemberTools) =>
  new Hono<RequestEnv>()
    .get('/invitations/:token', async (c) => showInvitation(c, await openInvitation(tools, c)))
    .post('/invitations/:token', async (c) => {
      const token = c.req.param('token');
      const opened = await openInvitation(tools, c);
      const { email, member, way } = opened;
      if (way === 'join' && member) {
        const actor = memberActor(member, c.var.requestId);
        const hasBody = c.req.header('Content-Type') !== undefined;
        const timeZone = hasBody ? ((await readForm(c, ZoneForm)).values?.time_zone ?? null) : null;
        return joined(c, await joinAsMember(tools.db, { token, member, actor, timeZone }));
      }
      if (way !== 'new') throw new Refusal('forbidden', hasAccountText(email));
      const form = await readForm(c, JoinForm);
      if (form.errors) return showInvitation(c, opened, form);
      const { name, password, time_zone: timeZone } = form.values;
      const refused = validatePassword(password, { name, email });
      if (refused) return showInvitation(c, opened, await withFieldError(c, { password: refused }));
      return joined(c, await joinAsNewMember(tools, c, { token, name, password, timeZone }));
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

type OpenedInvitation = Awaited<ReturnType<typeof openInvitation>>;

async function openInvitation({ db, publicUrl, settings }: MemberTools, c: Context) {
  const link = await findLink(db, 'invitation', hashToken(c.req.param('token') ?? ''));
  if (!link) throw gone();
  const email = link.email ?? '';
  const hash = readSessionHash(c, publicUrl);
  const member = hash && (await findSession(db, hash))?.member;
  if (member?.email.toLowerCase() === email.toLowerCase()) {
    return { link, email, member, way: 'join' } as const;
  }
  const canJoin = settings.signIn.byPassword && !(await findCredentials(db, email));
  return { link, email, member, way: canJoin ? 'new' : 'sign_in' } as const;
}

function showInvitation(
  c: Context,
  { link, email, member, way }: OpenedInvitation,
  form = emptyForm(),
) {
  const place = link.organization ?? 'askback';
  const body = (
    <>
      <p>
        {link.role
          ? `You are invited to ${place} as ${link.role}.`
          : 'You are invited to run this server as an operator.'}
      </p>
      {way === 'new' ? (
        <form method="post" class="fields">
          <FormErrors form={form} />
          <Field name="username" label="Email" value={email} autocomplete="username" readonly />
          <Field name="name" label="Name" form={form} autocomplete="name" required />
          <NewPassword name="password" label="Password" form={form} />
          <BrowserZone />
          <Submit>Create account</Submit>
        </form>
      ) : null}
      {way === 'join' ? (
        <>
          <p class="soft">The invitation is for {email}.</p>
          <form method="post" class="fields">
            <BrowserZone />
            <Submit>Join</Submit>
          </form>
        </>
      ) : null}
      {way === 'sign_in' ? (
        <>
          <p class="soft">{hasAccountText(email)}</p>
          {member ? (
            <p class="soft">
              You are signed in as {member.email}, and the invitation is for another address.
            </p>
          ) : null}
          <p>
            <LinkButton
              href={withNext('/sign-in', new URL(c.req.url).pathname)}
              text="Sign in"
              kind="primary"
            />
          </p>
        </>
      ) : null}
    </>
  );
  return renderStandalone(c, { title: `Join ${place}`, body, status: statusOf(form) });
}
