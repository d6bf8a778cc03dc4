import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { warnOfPatchLevel } from '../../src/lib/db/patch-level.ts';
import {
  countHarmfulFunctions,
  createReporter,
  reporterUrl,
  revokeReporter,
} from '../../src/reporters/reporters.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { commandRunner } from '../support/probe/command.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const actor = commandActor();
const views = [
  'surveys',
  'contacts',
  'people',
  'responses',
  'mails',
  'deliveries',
  'nps_by_day',
  'campaigns',
];

/** An organization with one row for each view, marked with a unique text. */
async function fill(mark: string) {
  const id = await makeOrganization(db, { name: mark });
  const survey_id = await makeSurvey(db, id, { name: mark });
  const contact_id = await makeContact(db, { org_id: id, survey_id }, { email: `${mark}@a.test` });
  await makeResponse(db, { org_id: id, survey_id }, { contact_id, comment: mark });
  await db`
    insert into mails (org_id, survey_id, contact_id, request_id, email, month)
    values (${id}, ${survey_id}, ${contact_id}, gen_random_uuid(), ${mark}, '2026-01-01')`;
  const webhook = await makeWebhook(db, id);
  const skipped = { org_id: id, webhook_id: webhook, event: mark, status: 'skipped' };
  await addDeliveries(db, skipped);
  const campaign = { org_id: id, survey_id, name: mark, status: 'running' };
  await db`insert into campaigns ${db(campaign)}`;
  return { id, survey_id };
}

const [own, other] = [await fill('larkspur'), await fill('northgate')];

async function open(orgId: string): Promise<{ reporter: Db; name: string; role: string }> {
  const { role_name, password, name } = await createReporter(db, { orgId, actor });
  const reporter = connect(reporterUrl(url, role_name, password), { connections: 1 });
  made.push({ reporter, name });
  return { reporter, name, role: role_name };
}

/** Roles belong to the server and would outlive the test's database. */
const made: { reporter: Db; name: string }[] = [];
after(async () => {
  for (const { reporter, name } of made) {
    await reporter.end({ timeout: 1 });
    await revokeReporter(db, name, actor).catch(() => {}); // a test may have revoked it
  }
});

const { reporter } = await open(own.id);
const { reporter: stranger } = await open(other.id);

test("a reporter only sees its organization's rows in every view", async () => {
  for (const view of views) {
    const read = async (sql: Db) => JSON.stringify(await sql`select * from ${sql(view)}`);
    const [mine, others] = [await read(reporter), await read(stranger)];
    assert.equal((JSON.parse(mine) as unknown[]).length, 1, view);
    assert.equal((JSON.parse(others) as unknown[]).length, 1, view);
    assert.notEqual(mine, others, view);
    assert.doesNotMatch(mine, new RegExp(`northgate|${other.survey_id}`), view);
  }
});

test('a reporter cannot read tables or change data', async () => {
  const tables = await db<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  assert.ok(tables.length > 20);
  for (const { schema, name } of tables) {
    const denied = { code: '42501' };
    await assert.rejects(reporter`select from ${reporter(schema)}.${reporter(name)}`, denied, name);
  }
  const [{ owner }] = (await db`select current_user as owner`) as unknown as [{ owner: string }];
  await reporter`set default_transaction_read_only = off`;
  const attempts = [
    () => reporter`update surveys set name = 'x'`,
    () => reporter`delete from contacts`,
    () => reporter`create table public.mine (id int)`,
    () => reporter`create temporary table mine (id int)`,
    () => reporter`create view askback_reports.mine as select 1`,
    () => reporter`select public.create_reporter_role('x', 'y')`,
    () => reporter`set session authorization ${reporter(owner)}`,
    () => reporter`set role ${reporter(owner)}`,
    () => reporter`select pg_read_file('postgresql.conf')`,
    () => reporter`copy (select 1) to program 'true'`,
  ];
  for (const attempt of attempts) {
    await assert.rejects(async () => await attempt(), { code: /^(42501|55000)$/ }, String(attempt));
  }
});

test("a failing condition is not evaluated on other organizations' rows", async () => {
  const rows = await reporter`
    select from responses where 10 / (length(comment) - ${'northgate'.length}::int) is not null`;
  assert.equal(rows.length, 1);
  const cast = reporter`select from surveys where name::int > 0`;
  await assert.rejects(cast, /invalid input syntax for type integer: "larkspur"/);
});

test("catalogs and plans do not reveal other organizations' rows", async () => {
  await db`
    insert into responses (org_id, survey_id, score, category)
    select ${other.id}, ${other.survey_id}, 9, 'promoter' from generate_series(1, 2000)`;
  await db`analyze`;
  assert.equal((await reporter`select from pg_stats where schemaname = 'public'`).length, 0);
  const plans: string[] = [];
  for (const survey of [other.survey_id, crypto.randomUUID()]) {
    const rows = await reporter<Record<string, string>[]>`
      explain select * from responses where survey_id = ${survey}`;
    plans.push(rows.map((row) => row['QUERY PLAN']!.replaceAll(survey, 'survey')).join('\n'));
  }
  assert.equal(plans[0], plans[1], 'a survey of others is estimated like one that is nowhere');
  const activity = await reporter<{ query: string }[]>`
    select query from pg_stat_activity where usename <> session_user and query <> ''`;
  for (const { query } of activity) assert.equal(query, '<insufficient privilege>');
  const roles = await reporter<{ rolname: string }[]>`
    select rolname from pg_roles where rolname like 'askback_reporter%'`;
  for (const { rolname } of roles) assert.match(rolname, /^askback_reporter_[\da-f]{8}$/);
});

test('a revoked reporter is disconnected and cannot reconnect', async () => {
  const leaving = await open(own.id);
  await leaving.reporter`select 1`;
  await revokeReporter(db, leaving.name, actor);
  await assert.rejects(async () => await leaving.reporter`select 1`);
  assert.equal((await db`select from pg_roles where rolname = ${leaving.role}`).length, 0);
  await assert.rejects(revokeReporter(db, leaving.name, actor), { kind: 'not_found' });
});

type Row = Record<string, unknown>;

/** Views of one table, with their renamed columns. */
const copied: Record<string, { table: string; renamed?: Record<string, string> }> = {
  surveys: { table: 'surveys' },
  contacts: { table: 'contacts' },
  mails: { table: 'mails', renamed: { created_at: 'claimed_at' } },
  deliveries: { table: 'deliveries' },
  campaigns: { table: 'campaigns' },
};

test('view columns equal the columns of their tables', async () => {
  const { id, survey_id } = await fill('copied');
  await db`insert into campaigns ${db({ org_id: id, survey_id, kind: 'asking', name: 'By itself', status: 'running' })}`;
  await db`
    update surveys set audience = 'employee', status = 'completed', completed_by = 'hand',
      completed_at = '2026-01-01', created_at = '2026-01-02', updated_at = '2026-01-03'
    where org_id = ${id}`;
  const { reporter } = await open(id);
  for (const [view, { table, renamed = {} }] of Object.entries(copied)) {
    const [shown, ...rest] = await reporter<
      { row: Row }[]
    >`select to_jsonb(v) as row from ${reporter(view)} v`;
    assert.deepEqual(rest, [], view);
    const [{ row }] = await db<[{ row: Row }]>`
      select to_jsonb(t) as row from ${db(table)} t where id = ${String(shown!.row['id'])}`;
    const wanted = Object.keys(shown!.row).map((name) => [name, row[renamed[name] ?? name]]);
    assert.deepEqual(shown!.row, Object.fromEntries(wanted), view);
  }
});

test('the responses view has survey, contact, properties and analysis', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id, { name: 'Own', type: 'csat' });
  const of = { org_id, survey_id };
  const contact_id = await makeContact(db, of, {
    email: 'ada@a.test',
    name: 'Ada',
    properties: db.json({ plan: 'pro' }),
  });
  const analysis = {
    sentiment: 'mixed',
    themes: ['price'],
    churn_risk: 'low',
    summary: 'In short',
  };
  const response_id = await makeResponse(db, of, {
    contact_id,
    comment: 'Fine',
    created_at: '2026-01-01',
  });
  await db`insert into analyses ${db({ org_id, response_id, provider: 'test', ...analysis })}`;
  const properties = { page: '/home' };
  const held = { source: 'share', held_reason: 'hidden_field', properties: db.json(properties) };
  await makeResponse(db, of, { ...held, created_at: '2026-01-02' });
  // The same id in another organization.
  const others = { org_id: other.id, survey_id: other.survey_id };
  await makeResponse(db, others, { id: response_id });
  await db`insert into analyses ${db({ org_id: other.id, response_id, sentiment: 'negative', provider: 'test' })}`;

  const { reporter } = await open(org_id);
  const rows = await reporter<Row[]>`select * from responses order by created_at`;
  const both = { survey_id, survey_name: 'Own', survey_type: 'csat' };
  assert.partialDeepStrictEqual(
    [...rows],
    [
      {
        ...both,
        contact_email: 'ada@a.test',
        properties: { plan: 'pro' },
        comment: 'Fine',
        held: false,
        ai_sentiment: 'mixed',
        ai_themes: ['price'],
        ai_churn_risk: 'low',
        ai_summary: 'In short',
      },
      { ...both, contact_email: null, properties, source: 'share', held: true, ai_sentiment: null },
    ],
  );
});

test('the NPS view has days with counted responses per survey', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id, { type: 'nps' });
  const days: [day: string, ...categories: string[]][] = [
    ['2026-01-01', 'promoter', 'promoter', 'promoter', 'passive', 'passive', 'detractor'],
    ['2026-01-02', 'detractor'],
  ];
  for (const [day, ...categories] of days) {
    for (const category of categories) {
      await makeResponse(db, { org_id, survey_id }, { category, created_at: `${day} 12:00Z` });
    }
  }
  const held = { held_reason: 'hidden_field', created_at: '2026-01-02 13:00Z' };
  await makeResponse(db, { org_id, survey_id }, held);
  await makeContact(db, { org_id, survey_id }, { created_at: '2026-01-03 12:00Z' });
  const { reporter } = await open(org_id);
  const shown = await reporter<
    { row: Row }[]
  >`select to_jsonb(v) as row from nps_by_day v order by day`;
  const of = { survey_id, survey_type: 'nps' };
  assert.deepEqual(
    shown.map(({ row }) => row),
    [
      {
        day: '2026-01-01',
        ...of,
        responses: 6,
        promoters: 3,
        passives: 2,
        detractors: 1,
        nps: 33,
        nps_low: -26.7,
        nps_high: 71.2,
      },
      {
        day: '2026-01-02',
        ...of,
        responses: 1,
        promoters: 0,
        passives: 0,
        detractors: 1,
        nps: -100,
        nps_low: -98.5,
        nps_high: 48.5,
      },
    ],
  );
});

test('a reporter has few connections, timeouts and no other rights', async () => {
  const { role } = await open(own.id);
  const [made] = await db`
    select rolcanlogin, rolinherit, rolsuper, rolcreatedb, rolcreaterole, rolconnlimit, rolconfig
    from pg_roles where rolname = ${role}`;
  assert.partialDeepStrictEqual({ ...made }, { rolinherit: false, rolsuper: false });
  assert.partialDeepStrictEqual({ ...made }, { rolcreatedb: false, rolcreaterole: false });
  assert.equal(made!['rolconnlimit'], 5);
  for (const setting of ['default_transaction_read_only=on', 'statement_timeout=60s'])
    assert.ok(made!['rolconfig'].includes(setting), setting);
});

const manual = readFileSync('ops/reports.md', 'utf8');

test('ops/reports.md documents exactly the existing columns', async () => {
  const columns = await db<{ column: string }[]>`
    select format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, null)) as column
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'askback_reports'::regnamespace and c.relkind = 'v' and a.attnum > 0`;
  const documented = manual
    .split(/^### /m)
    .slice(1)
    .flatMap((section) => {
      const view = section.slice(0, section.indexOf('\n'));
      const rows = [...section.matchAll(/^\| (\w+) \| ([^|]+?) \|/gm)];
      const named = rows.filter(([, name]) => name !== 'Column');
      return named.map(([, name, type]) => `${view}.${name} ${type}`);
    });
  assert.deepEqual(documented.sort(), columns.map(({ column }) => column).sort());
});

test('the queries of ops/reports.md run', async () => {
  const queries = [...manual.matchAll(/```sql\n([\s\S]+?)```/g)];
  assert.equal(queries.length, 3);
  for (const [, query] of queries) await reporter.unsafe(query!);
});

test('reporterUrl uses the first host with the role and password', () => {
  const service = 'postgres://me:secret@one.test:5432,two.test:5433/reports?sslmode=require';
  assert.equal(
    reporterUrl(service, 'askback_reporter_1', 'pass/word'),
    'postgres://askback_reporter_1:pass%2Fword@one.test:5432/reports?sslmode=require',
  );
});

test('reporter create refuses a Postgres with known vulnerabilities', async (t) => {
  const run = commandRunner({ DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey });
  const outdated = await warnOfPatchLevel(db);
  const name = `risk-${crypto.randomUUID()}`;
  t.after(() => revokeReporter(db, name, actor).catch(() => {}));
  const { code, stderr } = await run('reporter', 'create', '--org', own.id, '--name', name);
  assert.equal(code, outdated ? 1 : 0);
  if (outdated) assert.match(stderr, /has vulnerabilities.*--accept-risk/);
});

test('a reporter cannot take advisory locks or write large objects', async () => {
  await reporter`set default_transaction_read_only = off`;
  const attempts = [
    () => reporter`select pg_advisory_lock(1)`,
    () => reporter`select pg_try_advisory_xact_lock_shared(1, 2)`,
    () => reporter`select lo_from_bytea(0, 'x')`,
    () => reporter`select lo_create(0)`,
  ];
  for (const attempt of attempts) {
    await assert.rejects(async () => await attempt(), { code: '42501' }, String(attempt));
  }
  assert.equal(await countHarmfulFunctions(db), 0);
});

test('revoking works for a reporter with many large objects', async () => {
  const leaving = await open(own.id);
  // Simulates a server where the service may not revoke these rights.
  await db`grant execute on function lo_create(oid) to ${db(leaving.role)}`;
  await leaving.reporter`set default_transaction_read_only = off`;
  await leaving.reporter`select count(lo_create(0)) from generate_series(1, 20015)`;
  await revokeReporter(db, leaving.name, actor);
  assert.equal((await db`select from pg_roles where rolname = ${leaving.role}`).length, 0);
});

test('a reporter whose role cannot be dropped loses access', async () => {
  const leaving = await open(own.id);
  await leaving.reporter`select 1`;
  const second = await testDatabase();
  await second.db`create table held (id int)`;
  await second.db`grant select on held to ${second.db(leaving.role)}`;
  await assert.rejects(revokeReporter(db, leaving.name, actor), { code: '2BP01' });
  await assert.rejects(async () => await leaving.reporter`select 1`);
  const [{ login }] = (await db`
    select rolcanlogin as login from pg_roles where rolname = ${leaving.role}`) as unknown as [
    { login: boolean },
  ];
  assert.equal(login, false);
  await second.db`drop table held`;
  await revokeReporter(db, leaving.name, actor);
});

test('reporter commands create, list and revoke reporters', async () => {
  const run = commandRunner({ DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey });
  const name = `metabase-${crypto.randomUUID()}`;
  const create = ['reporter', 'create', '--org', own.id, '--name', name, '--accept-risk'];
  const { stdout } = await run(...create);
  const asTool = connect(stdout.trimEnd().split('\n').at(-1)!, { connections: 1 });
  assert.deepEqual([...(await asTool`select name from surveys`)], [{ name: 'larkspur' }]);
  await asTool.end();
  assert.match((await run(...create)).stderr, /a reporter named metabase-\S+ already exists/);
  const nowhere = await run('reporter', 'create', '--org', crypto.randomUUID(), '--accept-risk');
  assert.match(nowhere.stderr, /organization not found/);
  await db`insert into reporters ${db({ org_id: own.id, name: 'gone', role_name: `gone_${name}` })}`;
  const listed = (await run('reporter', 'list')).stdout;
  assert.match(listed, new RegExp(`^${name} +larkspur +askback_reporter_[\\da-f]{8} `, 'm'));
  assert.match(listed, /^gone +larkspur +\S+ \(no such role\)/m);
  assert.equal((await run('reporter', 'revoke', '--name', name)).code, 0);
  assert.match((await run('reporter', 'revoke', '--name', name)).stderr, /reporter not found/);
  const acts = await db<{ act: string }[]>`
    select act from audit_events where org_id = ${own.id} and target_id = ${name} order by at`;
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['reporter.created', 'reporter.revoked'],
  );
});
