import { Actions, Secret } from '../../web/app/acts.tsx';
import { Field, Select } from '../../web/app/fields.tsx';
import { counted, DataTable, EmptyState, Pager } from '../../web/app/lists.tsx';
import { Mistakes, State, Time } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { Part } from '../../web/app/settings-screen.tsx';
import type { PendingInvitation } from '../links.queries.ts';
import type { ListedMember } from '../roles.queries.ts';

const roleMeanings = {
  viewer: 'Sees answers, contacts, surveys, summaries and deliveries.',
  editor: 'Also makes and sends surveys, releases answers, and runs webhooks.',
  owner: 'Also has API keys, members, settings, erasing and the audit log.',
} as const;

type MemberListProps = {
  /** The path of this page, below which the acts are. */
  path: string;
  /** The member who reads it. */
  reader: string;
  members: readonly ListedMember[];
  invitations: readonly PendingInvitation[];
  /** The link of the invitation that was just made. */
  made: string | null;
  /** Whether its mail reaches no address. */
  mailbox: boolean;
  form: FormState;
};

export function MemberList(props: MemberListProps) {
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
        <InviteForm action={path} form={form} />
      </Part>
    </>
  );
}

const memberColumns = [
  { head: 'Name' },
  { head: 'Email' },
  { head: 'Role' },
  { head: 'Second step' },
  { head: 'Last seen' },
  { head: 'Change', hidden: true },
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

const invitationColumns = [
  { head: 'Email' },
  { head: 'Role' },
  { head: 'Works until' },
  { head: 'Change', hidden: true },
];

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

export const roleOptions = (['viewer', 'editor', 'owner'] as const).map((role) => ({
  value: role,
  text: role,
  help: roleMeanings[role],
}));

function InviteForm({ action, form }: { action: string; form: FormState }) {
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
      <button type="submit" class="primary">
        Invite
      </button>
    </form>
  );
}
