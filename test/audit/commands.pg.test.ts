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
import { loadConfig } from '../../src/settings.ts';
import { createTag } from '../../src/tags/tags.ts';
import { askNicelyContacts, delightedResponses } from '../moving/samples.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { emptyDatabase, testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'askback-acts-'));

const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_DATA_DIR: folder,
};
const tools: CommandTools = {
  config: () => loadConfig(environment, () => ''),
  variables: () => Object.keys(environment),
  environment,
  say: () => {},
  print: () => {},
  stopSignal: async () => 'SIGTERM',
};

type Scene = { org: string; survey: (over?: object) => Promise<string> };
type CommandAct = { act: Act; words: (scene: Scene) => Promise<string[]> } | { none: string };

const reads = { none: 'it only reads' };
const members = { none: 'leaves acts that the tests of the members room look at' };

const onSurvey = (act: Act, over: object = {}): CommandAct => ({
  act,
  words: async ({ survey }) => ['--id', await survey(over)],
});

const closed = { status: 'completed', completed_by: 'hand', completed_at: new Date() };

/** Every command: a new one fails the test until it stands here. */
const commandActs: Readonly<Record<string, CommandAct>> = {
  serve: { none: 'it changes nothing by itself' },
  migrate: { none: 'it changes the schema, which schema_migrations records' },
  'org create': { act: 'organization.created', words: async () => ['--name', 'Made'] },
  'org update': {
    act: 'organization.changed',
    words: async ({ org }) => ['--id', org, '--name', 'Renamed'],
  },
  'key create': { act: 'key.created', words: async ({ org }) => ['--org', org, '--name', 'k'] },
  'key revoke': {
    act: 'key.revoked',
    words: async ({ org }) => ['--id', (await createKey(db, commandWriter(org), { name: 'k' })).id],
  },
  'survey create': {
    act: 'survey.created',
    words: async ({ org }) => [
      '--org',
      org,
      '--name',
      'n',
      '--question',
      'q',
      '--from-name',
      'Ann',
      '--from-email',
      'ann@acme.test',
    ],
  },
  'survey update': {
    act: 'survey.changed',
    words: async ({ survey }) => ['--id', await survey(), '--name', 'x'],
  },
  'survey open': onSurvey('survey.opened', { status: 'draft' }),
  'survey close': onSurvey('survey.closed'),
  'survey reopen': onSurvey('survey.reopened', closed),
  'survey copy': onSurvey('survey.copied'),
  'survey delete': onSurvey('survey.deleted'),
  'survey send': {
    act: 'send.requested',
    words: async ({ org, survey }) => {
      await db`insert into suppressions ${db({ org_id: org, email: 'bo@people.test', kind: 'bounced' })}`;
      return ['--survey', await survey(), file('email\nbo@people.test')];
    },
  },
  'tag create': { act: 'tag.created', words: async ({ org }) => ['--org', org, '--name', 'vip'] },
  'tag update': {
    act: 'tag.changed',
    words: async ({ org }) => ['--id', await tag(org), '--name', 'x'],
  },
  'tag delete': {
    act: 'tag.deleted',
    words: async ({ org }) => ['--id', await tag(org)],
  },
  'contact import': {
    act: 'contacts.imported',
    words: async ({ survey }) => ['--survey', await survey(), file('email\nbo@people.test')],
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
  'response release': {
    act: 'response.released',
    words: async ({ org, survey }) => {
      const of = { org_id: org, survey_id: await survey() };
      return ['--id', await makeResponse(db, of, { held_reason: 'scanner' })];
    },
  },
  'person erase': {
    act: 'person.erased',
    words: async ({ org, survey }) => {
      await makeContact(
        db,
        { org_id: org, survey_id: await survey() },
        { email: 'zoe@people.test' },
      );
      return ['--org', org, '--email', 'zoe@people.test'];
    },
  },
  'erasure allow': {
    act: 'person.allowed',
    words: async ({ org }) => {
      const [row] = await db<{ id: string }[]>`
        insert into erasures (org_id, address_hash, scores, counts)
        values (${org}, address_hash(${org}, 'bo@people.test'), 'kept', '{}')
        returning id`;
      return ['--id', row!.id];
    },
  },
  'suppression remove': {
    act: 'suppression.removed',
    words: async ({ org }) => {
      const [row] = await db<{ id: string }[]>`
        insert into suppressions ${db({ org_id: org, email: 'a@b.test', kind: 'bounced' })}
        returning id`;
      return ['--id', row!.id];
    },
  },
  'webhook create': {
    act: 'webhook.created',
    words: async ({ org }) => [
      '--org',
      org,
      '--url',
      'https://127.0.0.1/',
      '--events',
      'response.received',
    ],
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
  'webhook test': { none: 'the verb of POST /api/webhooks/:id/test' },
  'webhook replay': { none: 'the verb of POST /api/webhooks/:id/replay' },
  'campaign create': { none: 'the verb of POST /api/v1/surveys/:id/campaigns' },
  'campaign pause': { none: 'the verb of POST /api/v1/campaigns/:id/pause' },
  'campaign resume': { none: 'the verb of POST /api/v1/campaigns/:id/resume' },
  'campaign stop': { none: 'the verb of POST /api/v1/campaigns/:id/stop' },
  'reporter create': { none: 'reporter.created, looked at by the tests of the reporters room' },
  'reporter revoke': { none: 'reporter.revoked, looked at by the tests of the reporters room' },
  ...Object.fromEntries(
    ['invite', 'role', 'remove', 'reset'].map((word) => [`member ${word}`, members]),
  ),
  restore: { none: 'needs an empty deployment: see below' },
  demo: { act: 'demo.filled', words: async () => ['--yes'] },
  ...Object.fromEntries(
    [
      'check-config',
      'doctor',
      'healthcheck',
      'version',
      'licenses',
      'files',
      'backup',
      'org list',
      'org show',
      'member list',
      'key list',
      'survey list',
      'survey show',
      'tag list',
      'mail preview',
      'contact why',
      'campaign list',
      'campaign show',
      'campaign results',
      'suppression list',
      'response list',
      'webhook list',
      'theme list',
      'audit list',
      'audit export',
      'reporter list',
      'erasure list',
    ].map((name) => [name, reads]),
  ),
};

/** What each of them prints for people, without what is drawn by lot. */
const said: Readonly<Record<string, readonly string[]>> = {
  'org create': ['made the organization Made: ID'],
  'org update': ['changed the organization Renamed: ID'],
  'key create': ['ask_live_LOT', '', 'The read key ID. It is not shown again.'],
  'key revoke': ['revoked the key k: ID'],
  'survey create': ['made the survey n: ID', 'anyone can answer at http://127.0.0.1:8080/f/LOT'],
  'survey update': ['changed the survey x: ID'],
  'survey open': ['Onboarding is open: ID'],
  'survey close': ['Onboarding is closed: ID'],
  'survey reopen': ['Onboarding is open again: ID'],
  'survey copy': ['made the draft Onboarding (copy): ID'],
  'survey delete': ['deleted the survey Onboarding: ID'],
  'survey send': [
    'sent: 0; 1 duplicates, 0 invalid, 0 failed',
    'email           status     reason',
    'bo@people.test  duplicate  mail to this address bounced: the mailbox does not exist',
  ],
  'tag create': ['made the tag vip: ID'],
  'tag update': ['changed the tag x: ID'],
  'tag delete': ['deleted the tag ID'],
  'contact import': ['imported 1 contact'],
  'import responses': ['imported 1 response'],
  'response release': ['released: the response ID counts now'],
  'erasure allow': ['the address may be added again'],
  'suppression remove': ['removed: a@b.test is no longer suppressed as bounced'],
  'webhook create': ['made the webhook ID', 'its secret, shown only now: whsec_LOT'],
  'summary create': ['From DAY to DAY, Acme received no answers.'],
  analyze: ['0 answers are analyzed by the running service'],
  'theme add': ['price: dear'],
  'theme remove': ['removed price'],
};

/** Whole reports, which the tests of their rooms read. */
const reports = ['import delighted', 'import asknicely', 'person erase', 'demo'];

for (const name of ['audit list', 'audit export']) {
  test(`${name} refuses days in the wrong order`, async () => {
    const org = await makeOrganization(db);
    for (const to of ['2027-01-31', '2027-02-01']) {
      const days = ['--from', '2027-02-01', '--to', to];
      const { code, stderr } = await askback([...name.split(' '), '--org', org, ...days], {
        DATABASE_URL: url,
        ASKBACK_SECRET_KEY: secretKey,
      });
      assert.equal(code, 1);
      assert.match(stderr, /--to must be after --from/);
    }
  });
}

test('every command is known, with the act that it leaves or why it leaves none', () => {
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
  test(`${name} says what it has done, and leaves ${entry.act} in the name of the command line`, async () => {
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
    const output = await run(name, tools, words);
    const lines = withoutLots(output).trimEnd().split('\n');
    if (said[name]) assert.deepEqual(lines, said[name]);
    else assert.ok(reports.includes(name), `${name} says: ${JSON.stringify(lines)}`);
    assert.equal(await count(), before + 1);
  });
}

test('restore leaves deployment.restored, with no organization', async () => {
  const empty = await emptyDatabase();
  const path = join(folder, 'backup');
  await run('backup', tools, [path]);
  const elsewhere = { ...environment, DATABASE_URL: empty.url };
  await run('restore', { ...tools, config: () => loadConfig(elsewhere, () => '') }, [path]);
  const events = await empty.db`
    select actor_kind, org_id from audit_events where act = 'deployment.restored'`;
  assert.deepEqual(
    events.map((event) => ({ ...event })),
    [{ actor_kind: 'command', org_id: null }],
  );
});

test('no event holds an address or a secret', async () => {
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

/** What is drawn by lot, or is of now, has a word in its place. */
const withoutLots = (text: string) =>
  text
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replace(/\b(ask_live_|whsec_|\/f\/)\S+/g, '$1LOT')
    .replace(/\d+ [A-Z]\w+ \d{4}/g, 'DAY')
    .replace(/ +$/gm, '');

function file(text: string): string {
  const path = join(folder, `${randomUUID()}.csv`);
  writeFileSync(path, text);
  return path;
}

const tag = async (org: string) =>
  (await createTag(db, commandWriter(org), { name: randomUUID(), color: '#112233' })).id;
