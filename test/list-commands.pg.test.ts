import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../src/cli.ts';
import type { CommandTools } from '../src/command-tools.ts';
import { loadConfig } from '../src/settings.ts';
import { makeOrganization, makeSurvey } from './support/make/rows.ts';
import { testDatabase } from './support/probe/database.ts';
import { secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const tools: CommandTools = {
  config: () => loadConfig(environment, () => ''),
  variables: () => Object.keys(environment),
  environment,
  say: () => {},
  print: () => {},
  stopSignal: async () => 'SIGTERM',
};

/** More than a command lists at once. */
const many = 201;

type List = { usually: number; fill: (org: string) => Promise<unknown> };

const lists: Readonly<Record<string, List>> = {
  'audit list': {
    usually: 50,
    fill: (org) => db`
      insert into audit_events (org_id, act, actor_kind, actor)
      select ${org}, 'tag.created', 'job', n from generate_series(1, ${many}::int) n`,
  },
  'response list': {
    usually: 20,
    fill: async (org) => {
      const survey = await makeSurvey(db, org);
      await db`
        insert into responses (org_id, survey_id, score, category)
        select ${org}, ${survey}, 9, 'promoter' from generate_series(1, ${many}::int)`;
    },
  },
  'suppression list': {
    usually: 50,
    fill: (org) => db`
      insert into suppressions (org_id, email, kind)
      select ${org}, n || '@people.test', 'bounced' from generate_series(1, ${many}::int) n`,
  },
  'erasure list': {
    usually: 50,
    fill: (org) => db`
      insert into erasures (org_id, address_hash, scores, counts)
      select ${org}, address_hash(${org}, n || '@people.test'), 'kept', '{}'
      from generate_series(1, ${many}::int) n`,
  },
};

for (const [name, { usually, fill }] of Object.entries(lists)) {
  test(`${name} lists ${usually}, or as many as are asked for: from 1 to 200`, async () => {
    const org = await makeOrganization(db);
    await fill(org);
    const list = commandLine.commands.find((each) => each.name === name)!;
    const listed = async (...words: string[]) => {
      const { output } = await list.run(tools, ['--org', org, '--json', ...words], 'askback');
      return (JSON.parse(output) as object[]).length;
    };
    assert.equal(await listed(), usually);
    for (const limit of [1, 200]) assert.equal(await listed('--limit', `${limit}`), limit);
    await assert.rejects(listed('--limit', '0'), { message: /must be at least 1/ });
    await assert.rejects(listed('--limit', '201'), { message: /must be at most 200/ });
  });
}
