import { Actions, Secret } from '../../web/app/acts.tsx';
import { Field, Select } from '../../web/app/fields.tsx';
import { counted, DataTable, EmptyState, Pager } from '../../web/app/lists.tsx';
import { Mistakes, State, Time } from '../../web/app/marks.tsx';
import type { FormState } from '../../web/app/read-form.ts';
import { Part } from '../../web/app/settings-screen.tsx';
import type { PendingInvitation } from '../links.queries.ts';
import type { ListedMember } from '../roles.queries.ts';
import { memberTexts as texts } from '../screen-texts.ts';

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
        <Secret title={texts.linkTitle} label={texts.linkLabel} value={made} done={path}>
          <p>{mailbox ? texts.linkAboutHere : texts.linkAbout}</p>
        </Secret>
      ) : null}
      <Part id="members" title={texts.title}>
        <Members {...props} />
      </Part>
      <Part id="pending" title={texts.pending}>
        {invitations.length > 0 ? (
          <Invitations path={path} invitations={invitations} />
        ) : (
          <EmptyState title={texts.pendingEmpty} />
        )}
      </Part>
      <Part id="invite" title={texts.inviteTitle}>
        <InviteForm action={path} form={form} />
      </Part>
    </>
  );
}

const memberColumns = [
  { head: texts.name },
  { head: texts.email },
  { head: texts.role },
  { head: texts.secondStep },
  { head: texts.lastUsed },
  { head: texts.acts, hidden: true },
];

function Members({ path, reader, members }: MemberListProps) {
  const rows = members.map((member) => ({
    cells: [
      <>
        <bdi>{member.name}</bdi>
        {member.id === reader ? <span class="soft"> ({texts.you})</span> : null}
      </>,
      <bdi>{member.email}</bdi>,
      member.role,
      member.has_second_step ? <State kind="fine">on</State> : <span class="soft">off</span>,
      member.last_used_at ? (
        <Time at={member.last_used_at} show="ago" />
      ) : (
        <span class="soft">{texts.never}</span>
      ),
      <Acts path={`${path}/${member.id}`} name={member.name} />,
    ],
  }));
  return (
    <>
      <DataTable caption={texts.list} columns={memberColumns} rows={rows} />
      <Pager summary={counted(members.length, 'member')} />
    </>
  );
}

function Acts({ path, name }: { path: string; name: string }) {
  return (
    <Actions>
      <a class="more" href={`${path}/role`}>
        {texts.changeRole}
        <span class="hidden"> of {name}</span>
      </a>
      <a class="more" href={`${path}/remove`}>
        {texts.remove}
        <span class="hidden"> {name}</span>
      </a>
    </Actions>
  );
}

const invitationColumns = [
  { head: texts.email },
  { head: texts.role },
  { head: texts.until },
  { head: texts.acts, hidden: true },
];

function Invitations({ path, invitations }: Pick<MemberListProps, 'path' | 'invitations'>) {
  const rows = invitations.map(({ id, email, role, expires_at }) => ({
    cells: [
      <bdi>{email}</bdi>,
      role,
      <Time at={expires_at} />,
      <a class="button" href={`${path}/invitations/${id}/withdraw`}>
        {texts.withdraw}
        <span class="hidden"> the invitation of {email}</span>
      </a>,
    ],
  }));
  return <DataTable caption={texts.pending} columns={invitationColumns} rows={rows} />;
}

export const roleOptions = (['viewer', 'editor', 'owner'] as const).map((role) => ({
  value: role,
  text: role,
  help: texts.roleMeanings[role],
}));

function InviteForm({ action, form }: { action: string; form: FormState }) {
  return (
    <form method="post" action={action} class="fields measure">
      <Mistakes form={form} />
      <p class="soft">{texts.inviteAbout}</p>
      <Field
        name="email"
        label={texts.email}
        form={form}
        type="email"
        autocomplete="off"
        required
      />
      <Select
        name="role"
        label={texts.role}
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
        {texts.invite}
      </button>
    </form>
  );
}
