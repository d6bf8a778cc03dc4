import { commandActor } from '../audit/acts.ts';
import { databaseCommand, listCommand, orgOption } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { flag, Name, option, optional } from '../lib/cli/command.ts';
import { warnOfPatchLevel } from '../lib/db/patch-level.ts';
import { createReporter, listReporters, reporterUrl, revokeReporter } from './reporters.ts';

const create = databaseCommand({
  name: 'reporter create',
  does: 'makes a role of Postgres that reads the reports of one organization, and shows its address once',
  options: {
    org: orgOption('the organization whose rows it sees'),
    name: optional(Name, 'N', 'what it is for'),
    'accept-risk': flag('also on a Postgres with known vulnerabilities'),
  },
  async run(db, { org, name, 'accept-risk': acceptRisk }, { tools, config, databaseUrl }) {
    const outdated = acceptRisk ? undefined : await warnOfPatchLevel(db);
    if (outdated) {
      throw new Refusal(
        'forbidden',
        `${outdated}. On this server a reporter can end Postgres with one select, and perhaps run code in it. --accept-risk makes the reporter all the same`,
      );
    }
    const reporter = await createReporter(db, { orgId: org, name, actor: commandActor() });
    const url = reporterUrl(databaseUrl, reporter.role_name, reporter.password);
    if (!config.databaseUrl) {
      tools.say(
        'the built-in Postgres is reached only on this machine and by this account: set DATABASE_URL for reporters elsewhere',
      );
    }
    return {
      data: { name: reporter.name, url },
      text: `made the reporter ${reporter.name}; its address is not shown again:\n${url}`,
    };
  },
});

const list = listCommand({
  name: 'reporter list',
  does: 'lists the reporters of all organizations, newest first',
  options: {},
  run: (db) => listReporters(db),
  head: ['name', 'organization', 'role', 'created_at'],
  cells: ({ name, organization, role_name, usable, created_at }) => [
    name,
    organization,
    usable ? role_name : `${role_name} (no such role)`,
    created_at.toISOString(),
  ],
});

const revoke = databaseCommand({
  name: 'reporter revoke',
  does: 'drops the role of a reporter and ends its connections',
  options: { name: option(Name, 'N', 'its name') },
  async run(db, { name }) {
    const { org_id, role_name } = await revokeReporter(db, name, commandActor());
    return { data: { name, org_id, role_name }, text: `revoked the reporter ${name}` };
  },
});

export const reporterCommands = [create, list, revoke];
