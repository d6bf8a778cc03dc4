import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { commandActor } from '../../src/audit/actor.ts';
import { connect, type Db } from '../../src/lib/db/db.ts';
import { createReporter, reporterUrl, revokeReporter } from '../../src/reporters/reporters.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const actor = commandActor();
const views = [
  'surveys',
  'contacts',
  'responses',
  'mails',
  'deliveries',
  'nps_by_day',
  'campaigns',
];

/** An organization with one row for each view, with a mark that no other has. */
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

/** Roles belong to the whole server: they would outlive the test's database. */
const made: { reporter: Db; name: string }[] = [];
after(async () => {
  for (const { reporter, name } of made) {
    await reporter.end({ timeout: 1 });
    await revokeReporter(db, name, actor).catch(() => {}); // a test may have revoked it
  }
});

const { reporter } = await open(own.id);
const { reporter: stranger } = await open(other.id);

test('a reporter sees the rows of its organization in every view, and no other row', async () => {
  for (const view of views) {
    const read = async (sql: Db) => JSON.stringify(await sql`select * from ${sql(view)}`);
    const [mine, others] = [await read(reporter), await read(stranger)];
    assert.equal((JSON.parse(mine) as unknown[]).length, 1, view);
    assert.equal((JSON.parse(others) as unknown[]).length, 1, view);
    assert.notEqual(mine, others, view);
    assert.doesNotMatch(mine, new RegExp(`northgate|${other.survey_id}`), view);
  }
});

test('a reporter reads no table, and changes nothing', async () => {
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

test('a condition that fails on the rows of others is never tried on them', async () => {
  const rows = await reporter`
    select from responses where 10 / (length(comment) - ${'northgate'.length}::int) is not null`;
  assert.equal(rows.length, 1);
  const cast = reporter`select from surveys where name::int > 0`;
  await assert.rejects(cast, /invalid input syntax for type integer: "larkspur"/);
});

test('catalogs and plans say nothing of the rows of others', async () => {
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

test('a revoked reporter is disconnected, and cannot connect again', async () => {
  const leaving = await open(own.id);
  await leaving.reporter`select 1`;
  await revokeReporter(db, leaving.name, actor);
  await assert.rejects(async () => await leaving.reporter`select 1`);
  assert.equal((await db`select from pg_roles where rolname = ${leaving.role}`).length, 0);
  await assert.rejects(revokeReporter(db, leaving.name, actor), { kind: 'not_found' });
});

test('making and revoking a reporter leaves a trace', async () => {
  const rows = await db<{ act: string }[]>`
    select distinct act from audit_events
    where org_id = ${own.id} and act like 'reporter.%' order by act`;
  assert.deepEqual(
    rows.map(({ act }) => act),
    ['reporter.created', 'reporter.revoked'],
  );
});

const manual = readFileSync('ops/reports.md', 'utf8');

test('ops/reports.md documents exactly the columns that there are', async () => {
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

test('the command line makes, lists and revokes reporters', async () => {
  const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey };
  const run = async (...words: string[]) => {
    const ended = await askback(['reporter', ...words, '--json'], environment);
    return { ...ended, data: ended.stdout ? JSON.parse(ended.stdout) : undefined };
  };
  const name = `metabase-${crypto.randomUUID()}`;
  const asTool = connect((await run('create', '--org', own.id, '--name', name)).data.url, {
    connections: 1,
  });
  assert.deepEqual([...(await asTool`select name from surveys`)], [{ name: 'larkspur' }]);
  await asTool.end();
  const again = await run('create', '--org', own.id, '--name', name);
  assert.match(again.stderr, /there is a reporter named metabase-\S+ already/);
  const nowhere = await run('create', '--org', crypto.randomUUID());
  assert.match(nowhere.stderr, /organization not found/);
  const listed = (await run('list')).data as { name: string; usable: boolean }[];
  assert.ok(listed.some((one) => one.name === name && one.usable));
  assert.equal((await run('revoke', '--name', name)).data.name, name);
  assert.match((await run('revoke', '--name', name)).stderr, /reporter not found/);
});
