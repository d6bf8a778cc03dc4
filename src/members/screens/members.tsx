import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { capital, orNotFound, Refusal, whenRefused } from '../../errors.ts';
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
import {
  Avatar,
  Confirm,
  FormErrors,
  LastUsed,
  OnOff,
  Part,
  Secret,
  Time,
} from '../../web/app/badges.tsx';
import { redirectWith, setOneTimeSecret, takeOneTimeSecret } from '../../web/app/flash.ts';
import {
  Choice,
  emptyForm,
  Field,
  LinkButton,
  readForm,
  Select,
  Submit,
  SubmitOrCancel,
  withFieldError,
} from '../../web/app/forms.tsx';
import { ActMenu, counted, DataTable } from '../../web/app/lists.tsx';
import { renderStandalone } from '../../web/app/screen.tsx';
import { renderSettings, settingPath } from '../../web/app/settings-screen.tsx';
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
  findLink,
  findMemberRole,
  type LiveLink,
  listInvitations,
  listMembers,
  type MemberRole,
} from '../queries.ts';
import { changeRole, removeMember } from '../roles.ts';
import type { MemberTools } from '../sign-in.ts';
import { BrowserZone, Email, NewPassword, ZoneField } from './reset.tsx';

const roleMeanings = {
  viewer: 'Sees responses, contacts, surveys, summaries and deliveries.',
  editor: 'Also creates and sends surveys, releases responses and manages webhooks.',
  owner: 'Also manages API keys, members, settings, data erasure and the audit log.',
} as const;
const roleOptions = Object.entries(roleMeanings).map(([role, help]) => ({
  value: role,
  text: capital(role),
  help,
}));

const RoleForm = v.object({ role: OneOf(['viewer', 'editor', 'owner']) });
const InviteForm = v.object({ email: EmailField, ...RoleForm.entries });
const InvitationUrl = v.object({ url: v.string() });

/** Settings, Members, for owners. */
export const memberScreens = (tools: MemberTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showList(c, tools))

    .post('/', async (c) => {
      const owner = requireProvedOwner(c);
      const form = await readForm(c, InviteForm);
      if (form.errors) return await showList(c, tools, form);
      // An owner who sees the link could join as the invited person. Operators are trusted.
      const isShown = c.var.member.isOperator;
      const invitation = { ...form.values, isShown };
      const inviting = inviteMember({ ...tools, mails: true }, owner, invitation);
      const invited = await inviting.catch(invitationError);
      if (typeof invited === 'string') {
        return await showList(c, tools, await withFieldError(c, { email: invited }));
      }
      if (isShown) setOneTimeSecret(c, tools.secrets, owner, { url: invited.url });
      const text = tools.mailbox
        ? 'Invitation created, but not sent, because no mail server is configured. Ask an operator of this server for its link, which is in the built-in mailbox.'
        : 'Invitation sent.';
      return redirectWith(c, listPath(c), text);
    })

    .get('/:id/role', async (c) => showRole(c, await getMember(c, tools)))
    .post('/:id/role', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const form = await readForm(c, RoleForm);
      if (form.errors) return showRole(c, member, form);
      const change = { memberId: member.id, role: form.values.role };
      const changed = await changeRole(tools.db, owner, change).catch(whenRefused('last_owner'));
      if (!changed) return showRole(c, member, await withFieldError(c, { role: lastOwnerText }));
      return redirectToList(c, member, 'Role changed.');
    })
    .get('/:id/remove', async (c) => showRemove(c, await getMember(c, tools)))
    .post('/:id/remove', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const removal = removeMember(tools.db, owner, member.id);
      if (!(await removal.catch(whenRefused('last_owner'))))
        return showRemove(c, member, { typed: {}, errors: { '': lastOwnerText } });
      return redirectToList(c, member, 'Member removed.');
    })
    .get('/invitations/:id/withdraw', async (c) => {
      const { orgId } = requireProvedOwner(c);
      const id = idParam(c, 'invitation');
      const pending = await listInvitations(tools.db, orgId);
      const { email } = orNotFound(
        pending.find((each) => each.id === id),
        'invitation',
      );
      const action = `${listPath(c)}/invitations/${id}/withdraw`;
      const body = (
        <Confirm action={action} button="Withdraw" cancel={listPath(c)}>
          <p>The link in the invitation of {email} stops working.</p>
        </Confirm>
      );
      return renderSettings(c, { setting: 'members', title: 'Withdraw invitation', body });
    })
    .post('/invitations/:id/withdraw', async (c) => {
      const owner = requireProvedOwner(c);
      await withdrawInvitation(tools.db, owner, idParam(c, 'invitation'));
      return redirectWith(c, listPath(c), 'Invitation withdrawn.');
    });

const lastOwnerText = 'This is the last owner. Make another member an owner first.';

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'members');

/** Owners who changed themselves may have lost access to the list. */
const redirectToList = (c: Context<ScreenEnv>, { id }: MemberRole, text: string) =>
  redirectWith(c, id === c.var.member.id ? '/' : listPath(c), text);

/** Requires the proof when the page opens, so that a later redirect cannot lose input. */
async function getMember(c: Context<ScreenEnv>, { db }: MemberTools): Promise<MemberRole> {
  const { orgId } = requireProvedOwner(c);
  return orNotFound(await findMemberRole(db, orgId, idParam(c, 'member')), 'member');
}

function showRole(c: Context<ScreenEnv>, { name, role }: MemberRole, form = emptyForm()) {
  const body = (
    <form method="post" class="card stack measure">
      <FormErrors form={form} />
      <p>The new role takes effect immediately.</p>
      <Choice name="role" label="Role" form={form} value={role} options={roleOptions} />
      <SubmitOrCancel button="Change role" cancel={listPath(c)} />
    </form>
  );
  return renderSettings(c, { setting: 'members', title: `Change the role of ${name}`, body, form });
}

function showRemove(c: Context<ScreenEnv>, { id, name }: MemberRole, form = emptyForm()) {
  const action = `${listPath(c)}/${id}/remove`;
  const body = (
    <Confirm action={action} button="Remove" cancel={listPath(c)} form={form}>
      <p>
        {name} loses access to this organization immediately. Everything that {name} created stays,
        and so does the account with its other organizations.
      </p>
    </Confirm>
  );
  return renderSettings(c, { setting: 'members', title: `Remove ${name}`, body, form });
}

async function showList(
  c: Context<ScreenEnv>,
  { db, secrets, mailbox }: MemberTools,
  form = emptyForm(),
) {
  const owner = requireRole(c, 'owner');
  const link = v.safeParse(InvitationUrl, takeOneTimeSecret(c, secrets, owner));
  const members = await listMembers(db, owner.orgId);
  const invitations = await listInvitations(db, owner.orgId);
  const path = listPath(c);
  const actionColumn = { head: 'Actions', hidden: true, number: true };
  const body = (
    <>
      {link.success ? (
        <Secret title="Invitation link" label="Invitation link" value={link.output.url} done={path}>
          <p>
            {mailbox
              ? 'No mail server is configured, so pass this link on yourself.'
              : 'The link was also sent by email.'}{' '}
            You won’t see it again. Anyone with this link can join as the invited person.
          </p>
        </Secret>
      ) : null}
      <Part id="members" title="Members">
        <DataTable
          caption="Members of the organization"
          columns={[
            'Name',
            'Role',
            { head: 'Two-step', before: 'Two-step ' },
            { head: 'Last seen', before: 'Seen ' },
            actionColumn,
          ]}
          rows={members.map(({ id, name, email, role, has_second_step, last_used_at }) => ({
            cells: [
              <span class="person">
                <Avatar name={name} />
                <span>
                  <bdi>{name}</bdi>
                  {id === owner.memberId ? <span class="soft"> (you)</span> : null}
                  <span class="sub block">
                    <bdi>{email}</bdi>
                  </span>
                </span>
              </span>,
              capital(role),
              <OnOff on={has_second_step} />,
              <LastUsed at={last_used_at} />,
              <ActMenu about={name}>
                <li>
                  <a href={`${path}/${id}/role`}>Change role</a>
                </li>
                <li>
                  <a class="danger" href={`${path}/${id}/remove`}>
                    Remove
                  </a>
                </li>
              </ActMenu>,
            ],
          }))}
        />
        <p class="sub">{counted(members.length, 'member')}</p>
      </Part>
      {invitations.length === 0 ? null : (
        <Part id="pending" title="Pending invitations">
          <DataTable
            caption="Pending invitations"
            columns={['Email', 'Role', { head: 'Expires', before: 'Expires ' }, actionColumn]}
            rows={invitations.map(({ id, email, role, expires_at }) => ({
              cells: [
                <bdi>{email}</bdi>,
                capital(role),
                <Time at={expires_at} />,
                <LinkButton
                  href={`${path}/invitations/${id}/withdraw`}
                  text="Withdraw"
                  about={`the invitation of ${email}`}
                  mini
                />,
              ],
            }))}
          />
        </Part>
      )}
      <Part id="invite" title="Invite a member">
        <form method="post" action={path} class="card stack measure">
          <FormErrors form={form} />
          <p class="soft">Sends an email with a link that works once, within 7 days.</p>
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
  return renderSettings(c, { setting: 'members', body, form });
}

const signInText = (email: string) => `Sign in as ${email} to join.`;

const ZoneForm = v.object({ time_zone: ZoneField });
const JoinForm = v.object({
  ...ZoneForm.entries,
  name: NameField,
  password: NewPasswordField,
});

/** `/invitations/:token`: joins with a new account or as a signed-in member. */
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
        return openHome(c, await joinAsMember(tools.db, { token, member, actor, timeZone }));
      }
      if (way !== 'new') throw new Refusal('forbidden', signInText(email));
      const form = await readForm(c, JoinForm);
      if (form.errors) return showInvitation(c, opened, form);
      const { name, password, time_zone: timeZone } = form.values;
      const refused = validatePassword(password, { name, email });
      if (refused) return showInvitation(c, opened, await withFieldError(c, { password: refused }));
      return openHome(c, await joinAsNewMember(tools, c, { token, name, password, timeZone }));
    });

function openHome(c: Context, link: LiveLink | undefined) {
  if (!link) throw invitationGone();
  if (!link.organization) return c.redirect('/', 303);
  return redirectWith(c, '/', `You have joined ${link.organization}.`);
}

const invitationGone = () =>
  new Refusal(
    'gone',
    'This invitation no longer works: it was used, withdrawn or replaced, or seven days have passed. Ask an owner of the organization to invite you again.',
    { code: 'first_link_over' },
  );

type OpenedInvitation = Awaited<ReturnType<typeof openInvitation>>;

async function openInvitation({ db, publicUrl, settings }: MemberTools, c: Context) {
  const link = await findLink(db, 'invitation', hashToken(c.req.param('token') ?? ''));
  if (!link) throw invitationGone();
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
          ? `You have been invited to ${place} as ${link.role}.`
          : 'You have been invited to run this server as an operator.'}
      </p>
      {way === 'new' ? (
        <form method="post" class="stack">
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
          <form method="post" class="stack">
            <BrowserZone />
            <Submit>Join</Submit>
          </form>
        </>
      ) : null}
      {way === 'sign_in' ? (
        <>
          <p class="soft">{signInText(email)}</p>
          {member ? (
            <p class="soft">
              You are signed in as {member.email}, but the invitation is for another email.
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
  return renderStandalone(c, { title: `Join ${place}`, body, form });
}
