import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from '../src/cli.ts';
import type { CommandTools } from '../src/command-tools.ts';
import { runCommandLine, UsageError } from '../src/lib/cli/command.ts';
import type { Sql } from '../src/lib/db/db.ts';
import { refuseUnfitPostgres } from '../src/lib/db/migrate.ts';
import { makeOrganization, makeResponse, makeSurvey } from './support/make/rows.ts';
import { emptyDatabase, testDatabase } from './support/probe/database.ts';
import { askback, secretKey } from './support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
const run = (...words: string[]) => askback(words, environment);
const unknownId = '00000000-0000-4000-8000-000000000000';

/** The one JSON value that a command printed, when it went well and said nothing else. */
async function json(...words: string[]) {
  const { code, stdout, stderr } = await run(...words, '--json');
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(stdout.split('\n').length, 2);
  return JSON.parse(stdout);
}

/** A command that must not get as far as needing anything. */
const untouched = new Proxy({} as CommandTools, {
  get: (_, name) => () => assert.fail(`${String(name)} was asked for`),
});

for (const { name, usage } of commandLine.commands) {
  test(`${name} --help explains itself and touches nothing`, async () => {
    const { output, exitCode } = await runCommandLine(commandLine, untouched, [
      ...name.split(' '),
      '--help',
    ]);
    assert.equal(exitCode, 0);
    assert.ok(output.includes(usage));
  });

  test(`${name} refuses an option that it does not have, with its usage`, async () => {
    const words = [...name.split(' '), '--colour', 'red'];
    await assert.rejects(runCommandLine(commandLine, untouched, words), (error: UsageError) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, /^unknown option '--colour'(; did you mean '--color'\?)?$/);
      assert.equal(error.usage, usage);
      return true;
    });
  });

  if (name.endsWith(' update')) {
    test(`${name} --help names no default: what is not given stays`, async () => {
      const words = [...name.split(' '), '--help'];
      const { output } = await runCommandLine(commandLine, untouched, words);
      assert.doesNotMatch(output, /\([^()]*\)$/m);
    });
  }

  if (/ --\w[\w-]* [A-Z]/.test(usage.replaceAll(/\[[^\]]*\]/g, ''))) {
    test(`${name} names every option that is missing`, async () => {
      await assert.rejects(runCommandLine(commandLine, untouched, name.split(' ')), (error) => {
        const required = usage.replaceAll(/\[[^\]]*\]/g, '').match(/--[\w-]+/g);
        const said = (error as UsageError).message.match(/--[\w-]+(?= is required)/g);
        assert.deepEqual(said, required);
        return true;
      });
    });
  }
}

const wrong: [words: string[], complaint: RegExp][] = [
  [['nonsense'], /^'nonsense' is not a command$/],
  [['org'], /^'org' needs a second word$/],
  [['org', 'destroy'], /^'org destroy' is not a command$/],
  [['orgs', 'list'], /^'orgs' is not a command; did you mean 'org list'\?$/],
  [['survey', 'lst'], /^'survey lst' is not a command; did you mean 'survey list'\?$/],
  [['doctr'], /^'doctr' is not a command; did you mean 'doctor'\?$/],
  [['org', 'show', '--id'], /^--id needs a value$/],
  [['org', 'list', '--jsn'], /^unknown option '--jsn'; did you mean '--json'\?$/],
  [['survey', 'list', '--ogr', unknownId], /^unknown option '--ogr'; did you mean '--org'\?$/],
  [['backup', '-'], /^FILE must be the name of a file/],
  [['version', 'now'], /unexpected argument 'now'/],
  [['org', 'create', '--name'], /--name/],
  [['org', 'create', '--name', 'A', '--name', 'B'], /^--name is given twice$/],
  [['org', 'create', '--name', ' '], /^--name must not be empty$/],
  [['org', 'create', '--name', 'x'.repeat(201)], /^--name must be at most 200 characters$/],
  [['org', 'create', '--name', 'a\nb'], /^--name must be one line without control characters$/],
  [['org', 'create', '--name', 'A', '--send-limit', '-1'], /is written --send-limit=-VALUE$/],
  [['org', 'create', '--name', 'A', '--send-limit=-1'], /^--send-limit must be a whole number$/],
  [['org', 'create', '--name', 'A', '--send-limit=1.5'], /^--send-limit must be a whole number$/],
  [['org', 'create', '--name', 'A', '--time-zone', 'Mars/Base'], /^--time-zone must be the name/],
  [['org', 'create', '--name', 'A', '--contact-email', 'a@'], /^--contact-email must be an email/],
  ...['org', 'survey', 'tag'].map((each): [string[], RegExp] => [
    [each, 'update', '--id', unknownId],
    /^nothing to change was given$/,
  ]),
  [['org', 'update', '--id', unknownId, '--logo', 'a', '--no-logo'], /contradict each other$/],
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
    /^--audience goes with --type nps only$/,
  ],
  [['org', 'update', '--id', unknownId, '--ai', '--no-ai'], /contradict each other$/],
  [['key', 'create', '--org', 'x', '--name', 'k'], /^--org must be a UUID$/],
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
  test(`askback ${words.join(' ').slice(0, 70)} is wrong usage`, async () => {
    await assert.rejects(runCommandLine(commandLine, untouched, words), (error) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, complaint);
      return true;
    });
  });
}

test('wrong usage ends with 2, a sentence and the usage on stderr, and nothing on stdout', async () => {
  const { code, stdout, stderr } = await askback(['key', 'revoke']);
  assert.deepEqual([code, stdout], [2, '']);
  assert.equal(stderr, 'askback: --id is required\nusage: askback key revoke --id ID [--json]\n');
});

test('every mistake in the environment ends with 2, before anything is touched', async () => {
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
  test(`askback ${words.join(' ')} prints the version, however wrong the environment is`, async () => {
    const { code, stdout } = await askback(words, { PORT: 'x' });
    assert.equal(code, 0);
    assert.match(stdout, /^askback \d+\.\d+\.\d+\n$/);
  });
}

test('a refusal ends with 1 and one sentence', async () => {
  const { code, stdout, stderr } = await run('key', 'revoke', '--id', unknownId);
  assert.deepEqual([code, stdout, stderr], [1, '', 'askback: key not found\n']);
});

for (const { name } of commandLine.commands.filter(listsOneOrganization)) {
  test(`${name} of an organization that does not exist says so`, async () => {
    const { code, stdout, stderr } = await run(...name.split(' '), '--org', unknownId);
    assert.deepEqual([code, stdout, stderr], [1, '', 'askback: organization not found\n']);
  });
}

function listsOneOrganization({ name, usage }: { name: string; usage: string }) {
  return /^\w+ (list|export)$/.test(name) && usage.includes('--org ID');
}

test('an organization is made with all its settings, changed and listed', async () => {
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

test('a key is shown when it is made, listed without its secret, and revoked once', async () => {
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

test('a key that has expired is refused', async () => {
  const org = await makeOrganization(db);
  const key = await json(
    'key',
    'create',
    '--org',
    org,
    '--name',
    'k',
    '--expires-at',
    '2999-01-01',
  );
  assert.equal(key.expires_at, '2999-01-01T00:00:00.000Z');
});

for (const words of [
  ['key', 'create', '--name', 'k'],
  ['tag', 'create', '--name', 't', '--color', '#000000'],
  [
    'survey',
    'create',
    '--name',
    's',
    '--question',
    'q',
    '--from-name',
    'n',
    '--from-email',
    'a@b.test',
  ],
]) {
  test(`${words.slice(0, 2).join(' ')} for an organization that does not exist says so`, async () => {
    const { code, stderr } = await run(...words, '--org', unknownId);
    assert.deepEqual([code, stderr], [1, 'askback: organization not found\n']);
  });
}

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

test('a survey is active, replies go to its sender, and it has an address to share', async () => {
  const made = await json(...survey(await makeOrganization(db)));
  assert.deepEqual([made.status, made.type, made.reply_to], ['active', 'nps', 'ann@acme.test']);
  assert.match(made.share_url, /^http:\/\/127\.0\.0\.1:8080\/f\/[\w-]{16}$/);
});

test('a draft survey can be opened repeatedly, and stays closed once it is closed', async () => {
  const { id, status } = await json(...survey(await makeOrganization(db)), '--draft');
  assert.equal(status, 'draft');

  assert.equal((await json('survey', 'open', '--id', id)).status, 'active');
  assert.equal((await json('survey', 'open', '--id', id)).status, 'active');
  const closed = await json('survey', 'close', '--id', id);
  assert.deepEqual([closed.status, closed.completed_by], ['completed', 'hand']);
  const { code, stderr } = await run('survey', 'open', '--id', id);
  assert.equal(code, 1);
  assert.match(stderr, /^askback: the survey is completed: reopen it to make it active again\n$/);
  assert.equal((await json('survey', 'reopen', '--id', id)).completed_by, null);
  assert.equal((await json('survey', 'reopen', '--id', id)).status, 'active');
});

test('an organization is shown with its settings and the mails of its month', async () => {
  const { id } = await json('org', 'create', '--name', 'Nord', '--person', 'Ann');
  await db`insert into mail_usage (org_id, month, used)
    values (${id}, date_trunc('month', now() at time zone 'UTC')::date, 7),
           (${id}, date_trunc('month', now() at time zone 'UTC')::date - 1, 9)`;
  const shown = await json('org', 'show', '--id', id);
  assert.deepEqual([shown.name, shown.people, shown.mails_this_month], ['Nord', ['Ann'], 7]);
  assert.match((await run('org', 'show', '--id', id)).stdout, /^mails this month +7$/m);
  const unknown = await run('org', 'show', '--id', unknownId);
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'askback: organization not found\n']);
});

test('a draft is not reopened, and a survey that does not exist is not found', async () => {
  const { id } = await json(...survey(await makeOrganization(db)), '--draft');
  const { code, stderr } = await run('survey', 'reopen', '--id', id);
  assert.deepEqual([code, stderr], [1, 'askback: the survey is a draft: open it\n']);
  for (const words of [['reopen'], ['show'], ['update', '--name', 'A']]) {
    const unknown = await run('survey', ...words, '--id', unknownId);
    assert.deepEqual([unknown.code, unknown.stderr], [1, 'askback: survey not found\n']);
  }
});

test('a survey changes in what is given, and keeps the rest', async () => {
  const made = await json(...survey(await makeOrganization(db)));
  const words = ['--question', 'Better?', '--from-email', 'b@example.com'];
  const { updated_at: _, ...changed } = await json('survey', 'update', '--id', made.id, ...words);
  const { updated_at: __, share_url: ___, ...before } = made;
  assert.deepEqual(changed, { ...before, question_text: 'Better?', from_email: 'b@example.com' });
});

test('a survey is shown and listed with its link and its counts', async () => {
  const org = await makeOrganization(db);
  const made = await json(...survey(org));
  const of = { org_id: org, survey_id: made.id };
  for (const category of ['promoter', 'promoter', 'detractor']) {
    await makeResponse(db, of, { category });
  }
  const other = await makeOrganization(db);
  await makeResponse(db, { org_id: other, survey_id: await makeSurvey(db, other) }, {});

  const shown = await json('survey', 'show', '--id', made.id);
  assert.deepEqual([shown.share_url, shown.stats.nps], [made.share_url, 33]);
  const [listed] = await json('survey', 'list', '--org', org);
  assert.deepEqual([listed.sent_count, listed.response_count], [0, 3]);
  const { stdout } = await run('survey', 'list', '--org', org);
  assert.ok(
    stdout.includes(made.share_url) && /\n\S+ +nps +active +0 +3 +http/.test(stdout),
    stdout,
  );
  const text = (await run('survey', 'show', '--id', made.id)).stdout;
  assert.match(text, /^nps +33$/m);
});

test('responses are listed newest first, one line each, with nothing that a terminal obeys', async () => {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  await makeResponse(db, of, {
    score: 2,
    category: 'detractor',
    comment: 'Too\nslow\u001b[31m\u202e',
  });
  await makeResponse(db, of, { score: 10, comment: null, created_at: new Date(Date.now() + 1000) });
  const list = ['response', 'list', '--org', org];
  const scores = (await json(...list)).map(({ score }: { score: number }) => score);
  assert.deepEqual(scores, [10, 2]);
  const { stdout } = await run(...list, '--category', 'detractor');
  assert.match(
    stdout,
    /^time +type +score .*\n\S+ +nps +2 +detractor +counted +- +Too slow \[31m\n$/,
  );
  assert.equal((await json(...list, '--limit', '1')).length, 1);
  assert.deepEqual(await json('response', 'list', '--org', await makeOrganization(db)), []);
});

test('only an nps survey has an audience', async () => {
  const words = survey(await makeOrganization(db));
  assert.equal((await json(...words, '--audience', 'employee')).audience, 'employee');
  const { code, stderr } = await run(...words, '--audience', 'employee', '--type', 'csat');
  assert.equal(code, 2);
  assert.match(stderr, /--audience goes with --type nps only/);
});

test("surveys are listed by their organization's id, newest first", async () => {
  const org = await makeOrganization(db);
  await makeSurvey(db, org, { name: 'first' });
  await makeSurvey(db, org, { name: 'second' });
  await makeSurvey(db, await makeOrganization(db));
  const names = (await json('survey', 'list', '--org', org)).map(
    (one: { name: string }) => one.name,
  );
  assert.deepEqual(names, ['second', 'first']);
});

test('a second tag with the same name is refused', async () => {
  const org = await makeOrganization(db);
  const words = ['tag', 'create', '--org', org, '--name', 'vip', '--color', '#2F6FED'];
  const tag = await json(...words);
  const { code, stderr } = await run(...words);
  assert.deepEqual([code, stderr], [1, 'askback: the organization has a tag named vip already\n']);
  assert.deepEqual(await json('tag', 'list', '--org', org), [tag]);
});

test('a tag is changed and deleted by its id alone, and not as one of another organization', async () => {
  const org = await makeOrganization(db);
  const { id } = await json('tag', 'create', '--org', org, '--name', 'vip');

  const strangers = await Promise.all([
    run('tag', 'update', '--id', id, '--org', unknownId, '--name', 'x'),
    run('tag', 'delete', '--id', id, '--org', unknownId),
    run('tag', 'update', '--id', unknownId, '--name', 'x'),
    run('tag', 'delete', '--id', unknownId),
  ]);
  for (const { code, stderr } of strangers) {
    assert.deepEqual([code, stderr], [1, 'askback: tag not found\n']);
  }

  assert.equal((await json('tag', 'update', '--id', id, '--name', 'VIP')).name, 'VIP');
  assert.equal((await json('tag', 'delete', '--id', id)).id, id);
  assert.deepEqual(await json('tag', 'list', '--org', org), []);
});

test('migrate fills an empty database, and a second run says that it is up to date', async () => {
  const { url: empty } = await emptyDatabase();
  const migrate = () => askback(['migrate', '--json'], { ...environment, DATABASE_URL: empty });
  assert.ok(JSON.parse((await migrate()).stdout).applied.length > 0);
  assert.deepEqual(JSON.parse((await migrate()).stdout).applied, []);
});

test('a command does not upgrade a database that is in use', async () => {
  const { db: older, url: address } = await emptyDatabase();
  await askback(['migrate'], { ...environment, DATABASE_URL: address });
  await older`delete from schema_migrations where name like '0011%'`;
  const { code, stderr } = await askback(['org', 'list'], {
    ...environment,
    DATABASE_URL: address,
  });
  assert.equal(code, 1);
  assert.match(stderr, /older than this askback: run `askback migrate`/);
});

test('PostgreSQL 14 is refused by name', async () => {
  const postgres14 = (async () => [{ version: 14 }]) as unknown as Sql;
  await assert.rejects(refuseUnfitPostgres(postgres14), {
    message: 'this database is PostgreSQL 14; this program needs PostgreSQL 15 or newer',
  });
});

test('a database with Turkish letter case is refused with a sentence that says what to do', async () => {
  const turkish = (async () => [{ version: 18, folds: false }]) as unknown as Sql;
  await assert.rejects(refuseUnfitPostgres(turkish), { message: /ı; make one of another locale/ });
});

test('check-config shows the settings in force by name, hides secrets, and warns of unknown names', async () => {
  const { code, stdout, stderr } = await askback(['check-config', '--json'], {
    ...environment,
    DATABASE_URL: 'postgres://me:hunter2@db.example.com/askback',
    ASKBACK_RATELIMIT: '5',
  });
  const settings = JSON.parse(stdout);
  assert.equal(code, 0);
  assert.equal(settings.DATABASE_URL, 'postgres://me:***@db.example.com/askback');
  assert.equal(settings.ASKBACK_SECRET_KEY, '(secret)');
  assert.equal(
    stderr,
    'warning: ASKBACK_RATELIMIT is set, and is no setting of askback: did you mean ASKBACK_RATE_LIMIT?\n',
  );
});

test('check-config says in words how lists, addresses and exports are set', async () => {
  const { stdout } = await askback(['check-config'], {
    ...environment,
    ASKBACK_MAIL_FROM: 'Acme <ask@acme.test>',
    ASKBACK_METRICS_LISTEN: '[::1]:9100',
    ASKBACK_WEBHOOK_ALLOW: '10.0.0.0/8 fd00::/8',
    OTEL_TRACES_EXPORTER: 'otlp',
  });
  const shown = (name: string) => new RegExp(`^${name} +(.*)$`, 'm').exec(stdout)?.[1];
  assert.equal(shown('ASKBACK_MAIL_FROM'), 'Acme <ask@acme.test>');
  assert.equal(shown('ASKBACK_METRICS_LISTEN'), '[::1]:9100');
  assert.equal(shown('ASKBACK_WEBHOOK_ALLOW'), '10.0.0.0/8,fd00::/8');
  assert.match(stdout, /\n\ntraces are exported by OpenTelemetry, metrics are not\n$/);
  assert.doesNotMatch(stdout, /[{}]/);
});

const places = [
  { ASKBACK_DATA_DIR: '/etc/passwd/data', says: /cannot be made: \/etc\/passwd is a file/ },
  { ASKBACK_DATA_DIR: '/etc/passwd', says: /cannot be made: \/etc\/passwd is a file/ },
  { ASKBACK_ERASURES_FILE: '/nowhere/erasures.jsonl', says: /there is no folder \/nowhere/ },
  { ASKBACK_ERASURES_FILE: '/etc', says: /\/etc is a folder/ },
];
for (const { says, ...place } of places) {
  const [setting] = Object.entries(place);
  test(`check-config refuses ${setting!.join('=')}`, async () => {
    const { code, stderr } = await askback(['check-config'], place);
    assert.equal(code, 2);
    const [first, complaint, ...others] = stderr.trimEnd().split('\n');
    assert.equal(first, 'askback: the environment is not usable:');
    assert.match(complaint ?? '', new RegExp(`^  ${setting![0]}: .*${says.source}`));
    assert.deepEqual(others, []);
  });
}

test('healthcheck fails when no service listens', async () => {
  const { code, stdout } = await askback(['healthcheck', '--json'], { ...environment, PORT: '1' });
  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(stdout), {
    url: 'http://127.0.0.1:1/healthz',
    status: null,
    healthy: false,
  });
});
