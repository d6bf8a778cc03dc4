import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { json } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  const survey_id = await makeSurvey(db, id);
  const { get, list, status } = reader(app, read);
  const text = async (path: string) => await (await get(path)).text();
  const csv = async (path: string) =>
    parse(await text(path), { columns: true }) as Record<string, string>[];
  return { id, of: { org_id: id, survey_id }, get, list, status, text, csv };
}

test('a file of responses has what the list has, in its order, over many batches', async () => {
  const org = await client();
  await db`
    insert into responses (org_id, survey_id, score, category, comment, created_at)
    select ${org.id}, ${org.of.survey_id}, 9, 'promoter', 'no ' || n, now() - n / 7 * interval '1 second'
    from generate_series(1, 4321) n`;
  const sorted = await db<{ id: string }[]>`
    select id from responses where org_id = ${org.id} order by created_at desc, id desc`;
  const expected = sorted.map(({ id }) => id);
  const rows = await org.csv('/api/v1/responses/export');
  assert.deepEqual(
    rows.map((row) => row['id']),
    expected,
  );
  const lines = (await org.text('/api/v1/responses/export?format=jsonl')).trimEnd().split('\n');
  const [first, ...others] = lines.map((line) => JSON.parse(line));
  assert.equal(others.length, 4320);
  assert.deepEqual(first, (await org.list('/api/v1/responses?limit=1')).data[0]);
});

test('filters of the list hold for the file', async () => {
  const org = await client();
  const contact_id = await makeContact(db, org.of, { properties: json(db, { plan: 'pro' }) });
  const pro = await makeResponse(db, org.of, { contact_id, comment: 'slow' });
  const other = await makeResponse(db, org.of, { comment: 'quick', category: 'detractor' });
  const held = await makeResponse(db, org.of, { held_reason: 'hidden_link' });
  const ids = async (query: string) =>
    (await org.csv(`/api/v1/responses/export?${query}`)).map((row) => row['id']);
  assert.deepEqual(await ids('property.plan=pro'), [pro]);
  assert.deepEqual(await ids('search=quick'), [other]);
  assert.deepEqual(await ids('state=open'), [other]);
  assert.deepEqual(await ids('held=true'), [held]);
  assert.deepEqual(await ids('category=passive'), []);
  assert.equal(await org.status('/api/v1/responses/export?format=xlsx'), 400);
  assert.equal(await org.status('/api/v1/responses/export?survey_id=x'), 400);
});

test('a spreadsheet runs nothing, and reads quotes, lines and lists as they were', async () => {
  const org = await client();
  const contact_id = await makeContact(db, org.of, {
    name: '@evil',
    properties: json(db, { plan: 'a,"b"' }),
  });
  const comment = '=HYPERLINK("http://evil.test")\n2nd line, "quoted"';
  const response_id = await makeResponse(db, org.of, { contact_id, comment });
  for (const name of ['beta', 'alpha']) {
    const [tag] = await db<{ id: string }[]>`
      insert into tags (org_id, name, color) values (${org.id}, ${name}, '#ffffff') returning id`;
    await db`insert into response_tags ${db({ org_id: org.id, response_id, tag_id: tag!.id })}`;
  }
  const [row] = await org.csv('/api/v1/responses/export');
  assert.equal(row!['comment'], `'${comment}`);
  assert.equal(row!['contact_name'], "'@evil");
  assert.equal(row!['tags'], 'alpha;beta');
  assert.deepEqual(JSON.parse(row!['properties']!), { plan: 'a,"b"' });
});

test('a file of contacts has all of them with their properties', async () => {
  const org = await client();
  await makeContact(db, org.of, { email: 'ada@people.test', properties: json(db, { seats: 3 }) });
  const other = await makeSurvey(db, org.id);
  await makeContact(db, { org_id: org.id, survey_id: other }, { email: 'ben@people.test' });
  const emails = (await org.csv('/api/v1/contacts/export')).map((row) => row['email']);
  assert.deepEqual(emails, ['ben@people.test', 'ada@people.test']);
  const [ada, ...rest] = await org.csv(`/api/v1/contacts/export?survey_id=${org.of.survey_id}`);
  assert.equal(rest.length, 0);
  assert.equal(ada!['properties'], '{"seats":3}');
  const line = await org.text('/api/v1/contacts/export?format=jsonl');
  assert.equal(JSON.parse(line.split('\n')[0]!).email, 'ben@people.test');
});

test('a file is saved under a name, is never cached, and leaves its trace', async () => {
  const org = await client();
  const answer = await org.get('/api/v1/responses/export');
  assert.equal(answer.headers.get('Content-Disposition'), 'attachment; filename="responses.csv"');
  assert.equal(answer.headers.get('Cache-Control'), 'no-store');
  await answer.text();
  const acts = await db<{ act: string }[]>`select act from audit_events where org_id = ${org.id}`;
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['responses.exported'],
  );
});

test("a file has nothing of another organization's", async () => {
  const [mine, theirs] = [await client(), await client()];
  await makeResponse(db, theirs.of);
  await makeContact(db, theirs.of);
  assert.deepEqual(await mine.csv('/api/v1/responses/export'), []);
  assert.deepEqual(await mine.csv(`/api/v1/contacts/export?survey_id=${theirs.of.survey_id}`), []);
});
