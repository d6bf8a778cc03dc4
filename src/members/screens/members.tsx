import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound, whenRefused } from '../../errors.ts';
import { OneOf } from '../../lib/cli/options.ts';
import type { Secrets } from '../../lib/crypto/secrets.ts';
import type { Db } from '../../lib/db/db.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { requireRecentProof, requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { Choice } from '../../web/app/fields.tsx';
import { flash } from '../../web/app/flash.ts';
import { Mistakes } from '../../web/app/marks.tsx';
import { emptyForm, type FormState, readForm, withMistake } from '../../web/app/read-form.ts';
import { Part, renderSettings, settingPath } from '../../web/app/settings-screen.tsx';
import { keepOnce, takeOnce } from '../../web/app/shown-once.ts';
import { EmailField } from '../forms.ts';
import { inviteMember, withdrawInvitation } from '../invite.ts';
import { findInvitation, listInvitations } from '../links.queries.ts';
import { findMemberRole, listMembers, type MemberRole } from '../roles.queries.ts';
import { changeRole, removeMember } from '../roles.ts';
import { MemberList, roleOptions } from './member-list.tsx';
import { whyNotInvited } from './why-not-invited.ts';

const lastOwner = 'This is the last owner. Make another member an owner first.';

export type MemberScreenTools = {
  db: Db;
  secrets: Secrets;
  publicUrl: string;
  /** Whether mails reach no address, because no mail server is set. */
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
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      const form = await readForm(c, InviteForm);
      if (form.errors) return await showList(c, tools, form);
      // An owner who sees the link could take an address before its person comes; operators run the deployment.
      const isShown = c.var.member.isOperator;
      const invitation = { ...form.values, isShown };
      const made = await inviteMember({ ...tools, mails: true }, owner, invitation).catch(
        whyNotInvited,
      );
      if (typeof made === 'string') {
        return await showList(c, tools, await withMistake(c, { email: made }));
      }
      if (isShown) keepOnce(c, tools.secrets, owner, { url: made.url });
      flash(c, {
        kind: 'fine',
        text: tools.mailbox
          ? 'The invitation was made, and goes to no address, because no mail server is set. An operator of this server can read it in the built-in mailbox and hand its link over.'
          : 'The invitation is on its way.',
      });
      return c.redirect(listPath(c), 303);
    })

    .get('/:id/role', async (c) => showRole(c, await getMember(c, tools), emptyForm()))
    .post('/:id/role', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const form = await readForm(c, RoleForm);
      if (form.errors) return showRole(c, member, form);
      const change = { memberId: member.id, role: form.values.role };
      const changed = await changeRole(tools.db, owner, change).catch(whenRefused('last_owner'));
      if (!changed) return showRole(c, member, await withMistake(c, { role: lastOwner }));
      flash(c, { kind: 'fine', text: 'The role was changed.' });
      return c.redirect(member.id === owner.memberId ? '/' : listPath(c), 303);
    })

    .get('/:id/remove', async (c) => showRemove(c, await getMember(c, tools), emptyForm()))
    .post('/:id/remove', async (c) => {
      const owner = requireRole(c, 'owner');
      const member = await getMember(c, tools);
      const removed = await removeMember(tools.db, owner, member.id).catch(
        whenRefused('last_owner'),
      );
      if (!removed) {
        return showRemove(c, member, { typed: {}, errors: { '': lastOwner } });
      }
      flash(c, { kind: 'fine', text: 'The member was removed.' });
      return c.redirect(member.id === owner.memberId ? '/' : listPath(c), 303);
    })

    .get('/invitations/:id/withdraw', async (c) => {
      const { orgId } = requireRole(c, 'owner');
      requireRecentProof(c);
      const invitation = await findInvitation(tools.db, orgId, idIn(c));
      if (!invitation) throw notFound('invitation');
      return showWithdraw(c, invitation);
    })
    .post('/invitations/:id/withdraw', async (c) => {
      const owner = requireRole(c, 'owner');
      requireRecentProof(c);
      await withdrawInvitation(tools.db, owner, idIn(c));
      flash(c, { kind: 'fine', text: 'The invitation was withdrawn.' });
      return c.redirect(listPath(c), 303);
    });

const listPath = (c: Context<ScreenEnv>) => settingPath(c.var.organization, 'members');

const trailOf = (c: Context<ScreenEnv>) => [{ text: 'Members', href: listPath(c) }];

/** The proof is asked for at the page before the act already, so that nothing typed is lost. */
async function getMember(c: Context<ScreenEnv>, { db }: MemberScreenTools): Promise<MemberRole> {
  const { orgId } = requireRole(c, 'owner');
  requireRecentProof(c);
  const member = await findMemberRole(db, orgId, idIn(c));
  if (!member) throw notFound('member');
  return member;
}

function idIn(c: Context): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('member');
  return id;
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
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return await renderSettings(c, { setting: 'members', body, status });
}

function showRole(c: Context<ScreenEnv>, member: MemberRole, form: FormState) {
  const title = `Change the role of ${member.name}`;
  const body = (
    <Part id="role" title={title}>
      <form method="post" class="fields measure">
        <Mistakes form={form} />
        <p>The new role holds from the very next page.</p>
        <Choice name="role" label="Role" form={form} value={member.role} options={roleOptions} />
        <div class="actions">
          <button type="submit" class="primary">
            Change role
          </button>
          <a class="more" href={listPath(c)}>
            Cancel
          </a>
        </div>
      </form>
    </Part>
  );
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderSettings(c, { setting: 'members', title, body, trail: trailOf(c), status });
}

function showRemove(c: Context<ScreenEnv>, member: MemberRole, form: FormState) {
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
  const status = Object.keys(form.errors).length > 0 ? 422 : 200;
  return renderSettings(c, { setting: 'members', title, body, trail: trailOf(c), status });
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
  const trail = trailOf(c);
  return renderSettings(c, { setting: 'members', title: 'Withdraw the invitation', body, trail });
}
