import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Act, commandWriter } from '../../src/audit/acts.ts';
import { commandLine } from '../../src/cli.ts';
import type { CommandTools } from '../../src/command-tools.ts';
import { createKey } from '../../src/keys/manage.ts';
import { askNicelyContacts, delightedResponses } from '../importers/samples.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { commandTools } from '../support/probe/command.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'askback-acts-'));

const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_DATA_DIR: folder,
};
const tools = commandTools(environment);

type Scene = { org: string; survey: (over?: object) => Promise<string> };
type CommandAct = { act: Act; words: (scene: Scene) => Promise<string[]> } | { none: string };

const namesWith = (entry: CommandAct, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, entry]));

/** Every command. A new command fails the test until it is listed here. */
const commandActs: Readonly<Record<string, CommandAct>> = {
  serve: { none: 'it changes nothing by itself' },
  backup: { act: 'deployment.backed_up', words: async () => [join(folder, 'data.backup')] },
  migrate: { none: 'it changes the schema, which schema_migrations records' },
  'org create': { act: 'organization.created', words: async () => ['--name', 'Made'] },
  'org update': {
    act: 'organization.changed',
    words: async ({ org }) => ['--id', org, '--name', 'Renamed'],
  },
  'org delete': {
    act: 'organization.deleted',
    words: async ({ org }) => {
      const [row] = await db<{ name: string }[]>`select name from organizations where id = ${org}`;
      return ['--id', org, '--confirm', row!.name];
    },
  },
  'key create': { act: 'key.created', words: async ({ org }) => ['--org', org, '--name', 'k'] },
  'key revoke': {
    act: 'key.revoked',
    words: async ({ org }) => ['--id', (await createKey(db, commandWriter(org), { name: 'k' })).id],
  },
  'contact import': {
    act: 'contacts.imported',
    words: async ({ survey }) => ['--survey', await survey(), file('email\nbo@people.test')],
  },
  'people import': {
    act: 'people.imported',
    words: async ({ org }) => ['--org', org, file('email\nbo@people.test')],
  },
  'import responses': {
    act: 'responses.imported',
    words: async ({ survey }) => [
      '--survey',
      await survey(),
      file('score,created at\n9,2025-01-01'),
    ],
  },
  'import delighted': {
    act: 'responses.imported',
    words: async ({ survey }) => ['--survey', await survey(), file(delightedResponses)],
  },
  'import asknicely': {
    act: 'contacts.imported',
    words: async ({ survey }) => ['--survey', await survey(), file(askNicelyContacts)],
  },
  'summary create': { act: 'summary.created', words: async ({ org }) => ['--org', org] },
  analyze: {
    act: 'analysis.requested',
    words: async ({ org }) => {
      await db`update organizations set ai_enabled = true where id = ${org}`;
      return ['--org', org, '--since', '2025-01-01'];
    },
  },
  'theme add': {
    act: 'theme.saved',
    words: async ({ org }) => ['--org', org, '--name', 'price', '--words', 'dear'],
  },
  'theme remove': {
    act: 'theme.deleted',
    words: async ({ org }) => {
      await db`insert into themes ${db({ org_id: org, name: 'price', words: ['dear'] })}`;
      return ['--org', org, '--name', 'price'];
    },
  },
  ...namesWith({ none: 'the verb of a route, whose act the tests of routes look at' }, [
    ...['create', 'update', 'open', 'close'].map((word) => `survey ${word}`),
    ...['tag create', 'webhook replay', 'response release', 'person erase'],
    ...['reporter create', 'reporter revoke'],
  ]),
  ...namesWith({ none: 'leaves acts that the tests of members look at' }, [
    ...['invite', 'role', 'remove', 'reset'].map((word) => `member ${word}`),
  ]),
  restore: { none: 'needs an empty deployment: see below' },
  demo: { act: 'demo.filled', words: async () => ['--yes'] },
  ...namesWith({ none: 'it only reads' }, [
    ...['check-config', 'doctor', 'healthcheck', 'version', 'licenses', 'files'],
    ...['org', 'member', 'key', 'survey'].map((noun) => `${noun} list`),
    ...['webhook', 'theme', 'reporter'].map((noun) => `${noun} list`),
    ...['org show', 'audit export'],
    ...['mail preview', 'contact why', 'backup verify'],
  ]),
};

test('audit export rejects days in the wrong order', async () => {
  const org = await makeOrganization(db);
  const words = ['--org', org, '--from', '2027-02-01', '--to', '2027-02-01'];
  await assert.rejects(run('audit export', tools, words), { message: /--to must be after --from/ });
});

test('every command has an entry with its act', () => {
  const names = commandLine.commands.map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !(name in commandActs)),
    [],
    'add it to test/audit/commands.pg.test.ts',
  );
  assert.deepEqual(
    Object.keys(commandActs).filter((name) => !names.includes(name)),
    [],
    'there is no such command any more',
  );
});

for (const [name, entry] of Object.entries(commandActs)) {
  if (!('act' in entry)) continue;
  test(`${name} records ${entry.act} for the command line`, async () => {
    const org = await makeOrganization(db);
    const survey = async (over: object = {}) => {
      const id = await makeSurvey(db, org, { ...over });
      await makeContact(db, { org_id: org, survey_id: id });
      return id;
    };
    const words = await entry.words({ org, survey });
    const count = async () =>
      (await db`select from audit_events where act = ${entry.act} and actor_kind = 'command'`)
        .length;
    const before = await count();
    assert.notEqual(await run(name, tools, words), '');
    assert.equal(await count(), before + 1);
  });
}

test('restore records deployment.restored without an organization', async () => {
  const empty = await emptyDatabase();
  const path = join(folder, 'backup');
  await run('backup', tools, [path]);
  const elsewhere = { ...environment, DATABASE_URL: empty.url };
  await run('restore', commandTools(elsewhere), [path]);
  const events = await empty.db`
    select actor_kind, org_id from audit_events where act = 'deployment.restored'`;
  assert.deepEqual(
    events.map((event) => ({ ...event })),
    [{ actor_kind: 'command', org_id: null }],
  );
});

test('no event of a command contains an email or a secret', async () => {
  const rows = await db<
    { text: string }[]
  >`select row_to_json(e)::text as text from audit_events e`;
  for (const { text } of rows) assert.doesNotMatch(text, /@|whsec_|ask_live_/);
});

async function run(name: string, given: CommandTools, words: readonly string[]) {
  const command = commandLine.commands.find((each) => each.name === name)!;
  const { output, exitCode } = await command.run(given, words, 'askback');
  assert.equal(exitCode, 0);
  return output;
}

function file(text: string): string {
  const path = join(folder, `${randomUUID()}.csv`);
  writeFileSync(path, text);
  return path;
}
