import { commandActor } from '../audit/acts.ts';
import { databaseCommand, listCommand, orgOption } from '../command-tools.ts';
import { Refusal } from '../errors.ts';
import { flag, Name, option, optional } from '../lib/cli/command.ts';
import { warnOfPatchLevel } from '../lib/db/patch-level.ts';
import { createReporter, listReporters, reporterUrl, revokeReporter } from './reporters.ts';

const create = databaseCommand({
  name: 'reporter create',
  does: 'creates a Postgres role that reads the reports of one organization, and prints its URL once',
  options: {
    org: orgOption('the organization of the reports'),
    name: optional(Name, 'N', 'the name of the reporter'),
    'accept-risk': flag('allow it on a Postgres with known vulnerabilities'),
  },
  async run(db, { org, name, 'accept-risk': acceptRisk }, { tools, config, databaseUrl }) {
    const outdated = acceptRisk ? undefined : await warnOfPatchLevel(db);
    if (outdated) {
      throw new Refusal(
        'forbidden',
        `${outdated}. On this server a reporter can crash Postgres with one select, and perhaps run code in it. Use --accept-risk to create the reporter anyway`,
      );
    }
    const reporter = await createReporter(db, { orgId: org, name, actor: commandActor() });
    const url = reporterUrl(databaseUrl, reporter.role_name, reporter.password);
    if (!config.databaseUrl) {
      tools.say(
        'only this account on this machine can reach the built-in Postgres: set DATABASE_URL for reporters elsewhere',
      );
    }
    return {
      data: { name: reporter.name, url },
      text: `created the reporter ${reporter.name}. You won't see its URL again:\n${url}`,
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
  options: { name: option(Name, 'N', 'the name of the reporter') },
  async run(db, { name }) {
    const { org_id, role_name } = await revokeReporter(db, name, commandActor());
    return { data: { name, org_id, role_name }, text: `revoked the reporter ${name}` };
  },
});

export const reporterCommands = [create, list, revoke];
