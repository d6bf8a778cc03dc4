import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../src/cli.ts';
import type { CommandTools } from '../src/command-tools.ts';
import { runCommandLine, UsageError } from '../src/lib/cli/command.ts';
import { makeOrganization, makeResponse, makeSurvey } from './support/make/rows.ts';
import { commandRunner } from './support/probe/command.ts';
import { emptyDatabase, testDatabase } from './support/probe/database.ts';
import { askback, secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = commandRunner(environment);
const unknownId = '00000000-0000-4000-8000-000000000000';

/** Runs a command that must succeed, and returns the only JSON value that it printed. */
async function json(...words: string[]) {
  const { code, stdout, stderr } = await run(...words, '--json');
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(stdout.split('\n').length, 2);
  return JSON.parse(stdout);
}

/** Tools that fail the test when a command uses them. */
const untouched = new Proxy({} as CommandTools, {
  get: (_, name) => () => assert.fail(`${String(name)} was asked for`),
});

const wrong: [words: string[], complaint: RegExp][] = [
  [['nonsense'], /^'nonsense' is not a command$/],
  [['org'], /^'org' needs a subcommand$/],
  [['org', 'destroy'], /^'org destroy' is not a command$/],
  [['orgs', 'list'], /^'orgs' is not a command; did you mean 'org list'\?$/],
  [['survey', 'lst'], /^'survey lst' is not a command; did you mean 'survey list'\?$/],
  [['doctr'], /^'doctr' is not a command; did you mean 'doctor'\?$/],
  [['org', 'show', '--id'], /^--id needs a value$/],
  [['org', 'list', '--jsn'], /^unknown option '--jsn'; did you mean '--json'\?$/],
  [['survey', 'list', '--ogr', unknownId], /^unknown option '--ogr'; did you mean '--org'\?$/],
  [['backup', '-'], /^FILE must be a file name/],
  [['version', 'now'], /unexpected argument 'now'/],
  [['org', 'create', '--name'], /--name/],
  [['org', 'create', '--name', 'A', '--name', 'B'], /^--name can be used only once$/],
  [['org', 'create', '--name', ' '], /^--name must not be empty$/],
  [['org', 'create', '--name', 'x'.repeat(201)], /^--name must be at most 200 characters$/],
  [['org', 'create', '--name', 'a\nb'], /^--name must be one line without control characters$/],
  [['org', 'create', '--name', 'A', '--send-limit', '-1'], /use --send-limit=-VALUE$/],
  [['org', 'create', '--name', 'A', '--send-limit=-1'], /^--send-limit must be a whole number$/],
  [['org', 'create', '--name', 'A', '--send-limit=1.5'], /^--send-limit must be a whole number$/],
  [['org', 'create', '--name', 'A', '--time-zone', 'Mars/Base'], /^--time-zone must be the name/],
  [['org', 'create', '--name', 'A', '--contact-email', 'a@'], /^--contact-email must be an email/],
  ...['org', 'survey'].map((each): [string[], RegExp] => [
    [each, 'update', '--id', unknownId],
    /^no changes were given$/,
  ]),
  [['org', 'update', '--id', unknownId, '--logo', 'a', '--no-logo'], /cannot be used together$/],
  [
    [
      'survey',
      'create',
      '--org',
      unknownId,
      '--name',
      'n',
      '--question',
      'q',
      '--from-name',
      'A',
    ].concat(['--from-email', 'a@b.test', '--type', 'csat', '--audience', 'employee']),
    /^--audience requires --type nps$/,
  ],
  [['org', 'update', '--id', unknownId, '--ai', '--no-ai'], /cannot be used together$/],
  [['key', 'create', '--org', unknownId, '--name', 'k', '--permission', 'all'], /read, write$/],
  [['key', 'create', '--org', unknownId, '--name', 'k', '--expires-at', 'soon'], /ISO 8601/],
  [
    ['key', 'create', '--org', unknownId, '--name', 'k', '--expires-at', '2099-02-30'],
    /that exists$/,
  ],
  [['key', 'create', '--org', unknownId, '--name', 'k', '--expires-at', '2020-01-01'], /future$/],
  [
    ['tag', 'create', '--org', unknownId, '--name', 't', '--color', 'red'],
    /^--color must be a color/,
  ],
];

for (const [words, complaint] of wrong) {
  test(`askback ${words.join(' ').slice(0, 70)} prints its usage as an error`, async () => {
    await assert.rejects(runCommandLine(commandLine, untouched, words), (error) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, complaint);
      return true;
    });
  });
}

test('wrong usage exits with 2 and prints the usage on stderr', async () => {
  const { code, stdout, stderr } = await askback(['key', 'revoke']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.equal(stderr, 'askback: --id is required\nusage: askback key revoke --id ID [--json]\n');
});

test('all errors in the environment are reported at once with exit code 2', async () => {
  const { code, stdout, stderr } = await askback(['serve'], {
    DATABASE_URL: url,
    PORT: '99999',
    ASKBACK_PUBLIC_URL: 'https://example.com/askback',
  });
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /PORT: .*\n.*ASKBACK_PUBLIC_URL: .*without path.*\n.*ASKBACK_SECRET_KEY: /);
  assert.doesNotMatch(stderr, /\n\s+at /);
});

for (const words of [['version'], ['--version'], ['-V'], ['survey', 'list', '--version']]) {
  test(`askback ${words.join(' ')} prints the version in any environment`, async () => {
    const { code, stdout } = await askback(words, { PORT: 'x' });
    assert.equal(code, 0);
    assert.match(stdout, /^askback \d+\.\d+\.\d+\n$/);
  });
}

test('a refusal prints one sentence and exits with 1', async () => {
  const { code, stdout, stderr } = await run('key', 'revoke', '--id', unknownId);
  assert.deepEqual([code, stdout, stderr], [1, '', 'askback: key not found\n']);
});

test('an organization is created with all settings, changed and listed', async () => {
  const made = await json(
    'org',
    'create',
    '--name',
    'Nord',
    '--send-limit',
    '7',
    '--frequency-days',
    '30',
    '--ai',
    '--color',
    '#00ff00',
    '--time-zone',
    'Europe/Oslo',
    '--contact-email',
    'a@nord.test',
    '--person',
    'Ann Lee',
    '--person',
    'Bo',
    '--language',
    'nb',
    '--postal-address',
    ' 1 Quay\nOslo ',
  );
  const { id, created_at, updated_at, ...settings } = made;
  assert.deepEqual(settings, {
    name: 'Nord',
    slug: 'nord',
    color: '#00ff00',
    logo: null,
    time_zone: 'Europe/Oslo',
    language: 'nb',
    postal_address: '1 Quay\nOslo',
    mail_foot: null,
    contact_email: 'a@nord.test',
    people: ['Ann Lee', 'Bo'],
    monthly_send_limit: 7,
    frequency_days: 30,
    ai_enabled: true,
    keep_comments_days: null,
    keep_contacts_days: null,
    keep_openings_days: null,
    keep_mails_days: null,
  });

  const changed = await json(
    'org',
    'update',
    '--id',
    id,
    '--frequency-days',
    '0',
    '--no-ai',
    '--slug',
    'nord-as',
    '--postal-address',
    '',
    '--keep-contacts-days',
    '1',
    '--keep-mails-days',
    '0',
  );

  assert.deepEqual([changed.keep_contacts_days, changed.keep_mails_days], [1, null]);
  assert.deepEqual(
    [changed.name, changed.monthly_send_limit, changed.frequency_days, changed.ai_enabled],
    ['Nord', 7, null, false],
  );
  assert.deepEqual([changed.slug, changed.postal_address], ['nord-as', null]);
  const listed = await json('org', 'list');
  assert.ok(listed.some((organization: { id: string }) => organization.id === id));
});

test('a key is shown once, listed without its secret, and revoked', async () => {
  const org = await makeOrganization(db);
  const made = await json('key', 'create', '--org', org, '--name', 'k', '--permission', 'write');
  assert.match(made.key, /^ask_live_/);
  assert.equal(made.permission, 'write');

  const revoked = await json('key', 'revoke', '--id', made.id);
  const again = await json('key', 'revoke', '--id', made.id);

  assert.ok(revoked.revoked_at);
  assert.equal(again.revoked_at, revoked.revoked_at);
  const [listed] = await json('key', 'list', '--org', org);
  assert.deepEqual(
    [listed.id, listed.revoked_at, listed.key],
    [made.id, revoked.revoked_at, undefined],
  );
});

const survey = (org: string) => [
  'survey',
  'create',
  '--org',
  org,
  '--name',
  'Spring',
  '--question',
  'How was it?',
  '--from-name',
  'Ann',
  '--from-email',
  'ann@acme.test',
];

test('open is idempotent and does not reopen a closed survey', async () => {
  const { id, status } = await json(...survey(await makeOrganization(db)), '--draft');
  assert.equal(status, 'draft');

  assert.equal((await json('survey', 'open', '--id', id)).status, 'active');
  assert.equal((await json('survey', 'open', '--id', id)).status, 'active');
  const closed = await json('survey', 'close', '--id', id);
  assert.deepEqual([closed.status, closed.completed_by], ['completed', 'hand']);
  const { code, stderr } = await run('survey', 'open', '--id', id);
  assert.equal(code, 1);
  assert.match(stderr, /^askback: the survey is completed: reopen it first\n$/);
});

test('surveys are listed with their link and counts', async () => {
  const org = await makeOrganization(db);
  const made = await json(...survey(org));
  const of = { org_id: org, survey_id: made.id };
  for (const category of ['promoter', 'promoter', 'detractor']) {
    await makeResponse(db, of, { category });
  }
  const other = await makeOrganization(db);
  await makeResponse(db, { org_id: other, survey_id: await makeSurvey(db, other) }, {});

  const [listed] = await json('survey', 'list', '--org', org);
  assert.deepEqual([listed.sent_count, listed.response_count], [0, 3]);
  const { stdout } = await run('survey', 'list', '--org', org);
  assert.ok(
    stdout.includes(made.share_url) && /\n\S+ +nps +active +0 +3 +http/.test(stdout),
    stdout,
  );
});

test('migrate fills an empty database and is idempotent', async () => {
  const { url: empty } = await emptyDatabase();
  const migrate = () => commandRunner({ ...environment, DATABASE_URL: empty })('migrate', '--json');
  assert.ok(JSON.parse((await migrate()).stdout).applied.length > 0);
  assert.deepEqual(JSON.parse((await migrate()).stdout).applied, []);
});

test('a command does not upgrade a database that is in use', async () => {
  const { db: older, url: address } = await emptyDatabase();
  const command = commandRunner({ ...environment, DATABASE_URL: address });
  await command('migrate');
  await older`delete from schema_migrations where name = (select max(name) from schema_migrations)`;
  const { code, stderr } = await command('org', 'list');
  assert.equal(code, 1);
  assert.match(stderr, /older than this askback: run `askback migrate`/);
});

test('check-config prints settings without secrets, and unknown names', async () => {
  const { code, stdout, stderr } = await commandRunner({
    ...environment,
    DATABASE_URL: 'postgres://me:hunter2@db.example.com/askback',
    ASKBACK_RATELIMIT: '5',
  })('check-config', '--json');
  const settings = JSON.parse(stdout);
  assert.equal(code, 0);
  assert.equal(settings.DATABASE_URL, 'postgres://me:***@db.example.com/askback');
  assert.equal(settings.ASKBACK_SECRET_KEY, '(secret)');
  assert.match(stderr, /^warning: ASKBACK_RATELIMIT .*did you mean 'ASKBACK_RATE_LIMIT'/);
});

test('--org takes a slug and is optional with one organization', async () => {
  const { url: fresh, db: own } = await testDatabase();
  const inFresh = commandRunner({ ...environment, DATABASE_URL: fresh });
  assert.match((await inFresh('tag', 'create')).stderr, /--name is required/);
  assert.match((await inFresh('webhook', 'list')).stderr, /organization not found/);
  const first = await makeOrganization(own, { name: 'Elder' });
  assert.equal((await inFresh('webhook', 'list')).code, 0);
  await makeOrganization(own, { name: 'Rowan' });
  const several = await inFresh('webhook', 'list');
  assert.deepEqual([several.code, /there are several/.test(several.stderr)], [2, true]);
  const [{ slug }] = (await own`select slug from organizations where id = ${first}`) as unknown as [
    { slug: string },
  ];
  const key = ['key', 'create', '--name', 'k', '--json', '--org'];
  for (const org of [slug, first, first.toUpperCase()]) {
    assert.equal(JSON.parse((await inFresh(...key, org)).stdout).org_id, first);
  }
  assert.match((await inFresh(...key, 'nowhere')).stderr, /organization not found/);
});
