import { commandActor, commandWriter } from '../audit/acts.ts';
import {
  type CommandTools,
  databaseCommand,
  findOrgId,
  inDatabase,
  optionalOrgOption,
  orgOption,
} from '../command-tools.ts';
import { orNotFound, Refusal } from '../errors.ts';
import {
  type Command,
  columns,
  command,
  Email,
  flag,
  OneOf,
  option,
  optional,
  UsageError,
} from '../lib/cli/command.ts';
import type { Sql } from '../lib/db/db.ts';
import { publicUrlOf } from '../open-database.ts';
import { type Config, configuredSecrets } from '../settings.ts';
import { unlinkSso } from './account.ts';
import { turnOffCodes } from './codes.ts';
import { inviteMember, inviteOperator } from './invite.ts';
import { findCredentials, findMemberRoleByEmail, listAllMembers, listMembers } from './queries.ts';
import { createResetLink } from './reset.ts';
import { changeRole, removeMember } from './roles.ts';

const roles = ['owner', 'editor', 'viewer'] as const;
const memberEmail = option(Email, 'E', 'the email of the member');

const invite: Command<CommandTools> = command({
  name: 'member invite',
  does: 'invites a member, prints the link, and emails it if a mail server is configured',
  options: {
    email: option(Email, 'E', 'the email to invite'),
    org: optionalOrgOption('the organization to join'),
    role: optional(OneOf(roles), roles.join('|'), 'the role in the organization'),
    operator: flag('make the member an operator'),
  },
  run(tools: CommandTools, { email, org, role, operator }) {
    if ((org === undefined) !== (role === undefined)) {
      throw new UsageError('--org and --role go together', invite.usage);
    }
    if (org === undefined && !operator) {
      throw new UsageError('use --org with --role, or --operator', invite.usage);
    }
    return inDatabase(tools, async (db, config) => {
      const orgId = org === undefined ? undefined : await findOrgId(db, org, invite.usage);
      const inviting = {
        db,
        secrets: configuredSecrets(config, config.dataDir),
        publicUrl: await getPublicUrl(db, config),
        mails: config.smtpUrl !== null,
      };
      const invitation =
        orgId && role
          ? await inviteMember(inviting, commandWriter(orgId), {
              email,
              role,
              isOperator: operator,
            })
          : await inviteOperator(inviting, commandActor(), email);
      const text = `${invitation.url}\n\nThe link works once, within 7 days.`;
      return { data: invitation, text };
    });
  },
});

const list = databaseCommand({
  name: 'member list',
  does: 'lists the members of an organization, or of all',
  options: { org: optionalOrgOption('the organization') },
  async run(db, { org }) {
    const members = org ? await listMembers(db, org) : await listAllMembers(db);
    const rows = members.map((member) => [
      member.email,
      'role' in member ? member.role : member.organizations,
      member.is_operator ? 'yes' : 'no',
      member.last_used_at?.toISOString() ?? 'never',
      member.name,
    ]);
    const head = ['email', org ? 'role' : 'organizations', 'operator', 'last seen', 'name'];
    return { data: members, text: columns([head, ...rows]) };
  },
});

const role = databaseCommand({
  name: 'member role',
  does: 'changes the role of a member',
  options: {
    org: orgOption('the organization'),
    email: memberEmail,
    role: option(OneOf(roles), roles.join('|'), 'the new role'),
  },
  async run(db, { org, email, role }) {
    const { id: memberId } = await getMember(db, org, email);
    const member = await changeRole(db, commandWriter(org), { memberId, role });
    return { data: member, text: `${member.email} is now ${role}` };
  },
});

const remove = databaseCommand({
  name: 'member remove',
  does: 'removes a member from an organization',
  options: { org: orgOption('the organization'), email: memberEmail },
  async run(db, { org, email }) {
    const { id: memberId } = await getMember(db, org, email);
    const member = await removeMember(db, commandWriter(org), memberId);
    return { data: member, text: `removed ${member.email} from the organization` };
  },
});

const reset = databaseCommand({
  name: 'member reset',
  does: 'prints a link to set a new password',
  options: {
    email: memberEmail,
    codes: flag('also turn off two-step verification, for a lost phone'),
    sso: flag('also unlink the account at the OpenID provider'),
  },
  async run(db, { email, codes, sso }, { config }) {
    const publicUrl = await getPublicUrl(db, config);
    const link = await createResetLink({ db, publicUrl }, commandActor(), email);
    const { id: memberId } = orNotFound(await findCredentials(db, email), 'member');
    const own = { memberId, actor: commandActor() };
    if (codes) await turnOffCodes(db, own);
    if (sso) await unlinkSso(db, own);
    return { data: link, text: `${link.url}\n\nThe link works once, within an hour.` };
  },
});

export const memberCommands = [invite, list, role, remove, reset];

async function getPublicUrl(sql: Sql, config: Config): Promise<string> {
  const url = await publicUrlOf(sql, config);
  if (url) return url;
  throw new Refusal(
    'unavailable',
    'with PORT=0 the address is unknown until the service has run: set ASKBACK_PUBLIC_URL',
  );
}

const getMember = async (sql: Sql, orgId: string, email: string) =>
  orNotFound(await findMemberRoleByEmail(sql, orgId, email), 'member');
