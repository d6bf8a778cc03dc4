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

test('an export has the rows and order of the list, over many batches', async () => {
  const org = await client();
  await db`
    insert into responses (org_id, survey_id, score, category, comment, created_at)
    select ${org.id}, ${org.of.survey_id}, 9, 'promoter', 'no ' || n, now() - n / 7 * interval '1 second'
    from generate_series(1, 9321) n`;
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
  assert.equal(others.length, 9320);
  assert.deepEqual(first, (await org.list('/api/v1/responses?limit=1')).data[0]);
});

test('a slowly read export has each response once during writes', async () => {
  const org = await client();
  const addMany = (first: number, last: number, step: string) => db`
    insert into responses (org_id, survey_id, score, category, created_at)
    select ${org.id}, ${org.of.survey_id}, 9, 'promoter', '2026-03-01T00:00:00Z'::timestamptz - n * ${step}::text::interval
    from generate_series(${first}::int, ${last}::int) n`;
  await addMany(1, 9000, '1 second');
  const before = await db<{ id: string }[]>`select id from responses where org_id = ${org.id}`;
  const answer = await org.get('/api/v1/responses/export?format=jsonl');
  const reader = answer.body!.getReader();
  const chunks = [(await reader.read()).value];
  await addMany(-50, 0, '1 second');
  await addMany(8500, 9500, '0.9 second');
  const gone = await db<{ id: string }[]>`
    delete from responses
    where org_id = ${org.id} and created_at < '2026-02-28T21:40:00Z' and id::text < '4' returning id`;
  for (let part = await reader.read(); !part.done; part = await reader.read())
    chunks.push(part.value);
  const lines = Buffer.concat(chunks as Uint8Array[])
    .toString()
    .trimEnd()
    .split('\n');
  const found = lines.map((line) => JSON.parse(line) as { id: string; created_at: string });
  const ids = new Set(found.map(({ id }) => id));
  assert.equal(ids.size, found.length);
  const times = found.map(({ created_at }) => created_at);
  assert.deepEqual(times, times.toSorted().reverse());
  const deleted = new Set(gone.map(({ id }) => id));
  assert.ok(before.every(({ id }) => ids.has(id) || deleted.has(id)));
});

/**
 * Adds answers whose texts could be mistaken for markup or numbers, and a first one without text. Returns their number.
 */
async function addOddAnswers(org: Awaited<ReturnType<typeof client>>): Promise<number> {
  const odd = [
    '',
    '=1',
    '+1',
    '-1',
    '@a',
    '\t=',
    '\r',
    '"',
    ',',
    'a\nb',
    '="a",\r\n',
    "'x",
    'ä=',
    ' =',
    '\\n',
    '日本,語',
  ];
  await db`update surveys set name = ${'=cmd, "x"'} where id = ${org.of.survey_id}`;
  for (const [at, text] of odd.entries()) {
    const named = { email: `${at}+a@people.test`, name: text || null };
    const properties = json(db, at % 3 === 0 ? {} : { plan: text, deep: [text, 1, null] });
    const contact_id = await makeContact(db, org.of, { ...named, properties });
    const response_id = await makeResponse(db, org.of, {
      contact_id,
      comment: text || null,
      language: at % 2 ? 'de' : null,
    });
    const [tag] = await db<{ id: string }[]>`
      insert into tags (org_id, name, color) values (${org.id}, ${`${text}${at}`}, '#ffffff') returning id`;
    await db`insert into response_tags ${db({ org_id: org.id, response_id, tag_id: tag!.id })}`;
    await db`
      insert into analyses (org_id, response_id, sentiment, themes, summary, provider)
      values (${org.id}, ${response_id}, 'mixed', ${at % 4 === 0 ? [] : [text, 'speed']}, ${text}, 'test')
      on conflict (org_id, response_id) do update set themes = excluded.themes, summary = excluded.summary`;
  }
  return odd.length;
}

test('a JSON line has the same bytes as the item in the list', async () => {
  const org = await client();
  const many = await addOddAnswers(org);
  const lines = (await org.text('/api/v1/responses/export?format=jsonl')).split('\n').slice(0, -1);
  assert.equal(lines.length, many);
  const list = await org.text('/api/v1/responses?limit=200');
  const items = list.slice(0, list.indexOf('],"meta":')).replaceAll('\n', ' ');
  assert.equal(`{"data":[${lines.join(',')}`, items);
});

test('an export takes the filters of the list', async () => {
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

test('CSV is safe in spreadsheets and keeps quotes and line breaks', async () => {
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

test('an export of contacts has each contact once during writes', async () => {
  const org = await client();
  const addMany = (first: number, last: number) => db`
    insert into contacts (org_id, survey_id, email, token, created_at)
    select ${org.id}, ${org.of.survey_id}, n || '@people.test', gen_random_uuid()::text,
           '2026-03-01T00:00:00Z'::timestamptz - (n / 7) * interval '1 second'
    from generate_series(${first}::int, ${last}::int) n`;
  await addMany(1, 9321);
  const sorted = await db<{ id: string }[]>`
    select id from contacts where org_id = ${org.id} order by created_at desc, id desc`;
  const answer = await org.get('/api/v1/contacts/export?format=jsonl');
  const reader = answer.body!.getReader();
  const chunks = [(await reader.read()).value];
  await addMany(-50, 0);
  for (let part = await reader.read(); !part.done; part = await reader.read())
    chunks.push(part.value);
  const lines = Buffer.concat(chunks as Uint8Array[])
    .toString()
    .trimEnd()
    .split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).id),
    sorted.map(({ id }) => id),
  );
  const rows = await org.csv(`/api/v1/contacts/export?survey_id=${org.of.survey_id}`);
  assert.equal(new Set(rows.map((row) => row['id'])).size, 9372);
});

test('an export has a file name, is not cached, and is audited', async () => {
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

test('an export has no rows of another organization', async () => {
  const [mine, theirs] = [await client(), await client()];
  await makeResponse(db, theirs.of);
  await makeContact(db, theirs.of);
  assert.deepEqual(await mine.csv('/api/v1/responses/export'), []);
  assert.deepEqual(await mine.csv(`/api/v1/contacts/export?survey_id=${theirs.of.survey_id}`), []);
});
