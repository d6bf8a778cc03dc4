import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/lib/db/db.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

/** Postgres makes five plans for the values of a call before it compares them with a plan for all values. */
const calls = 7;

const { db, url } = await testDatabase();
const { id: org_id, read } = await makeClient(db);
const survey = await makeSurvey(db, org_id);
await db`
  insert into responses (org_id, survey_id, score, category, comment, created_at)
  select ${org_id}, ${survey}, 9, (array['promoter', 'passive', 'detractor'])[1 + n % 3], repeat('x', 60),
         '2024-05-01T00:00:00Z'::timestamptz + n * interval '1 hour'
  from generate_series(1, 20000) n`;
await db`
  insert into contacts (org_id, survey_id, email, token, created_at)
  select ${org_id}, ${survey}, n || '@people.test', ${survey} || n, '2024-05-01T00:00:00Z'::timestamptz + n * interval '1 hour'
  from generate_series(1, 20000) n`;
await db`analyze`;

const { data, next } = await firstPage();

const reads: readonly [name: string, path: (n: number) => string][] = [
  ['the first page', () => 'responses'],
  ['a page soon after it', (n) => `responses?page=${2 + n}`],
  ['a deep page', (n) => `responses?page=${200 + n}`],
  ['a deep page of a survey', (n) => `responses?survey_id=${survey}&page=${200 + n}`],
  ['a page by cursor', () => `responses?cursor=${next}`],
  ['a page since a time', (n) => `responses?date_from=2026-08-0${1 + n}T10:00:00Z`],
  [
    'a deep page of a range',
    (n) => `responses?date_from=2024-06-0${1 + n}&date_to=2026-01-05T07:00:00Z&page=50`,
  ],
  ['a response', () => `responses/${data[0]!.id}`],
  ['an nps', () => 'nps'],
  ['an nps since a time', (n) => `nps?date_from=2026-08-0${1 + n}T10:00:00Z`],
  ['a page of contacts', (n) => `contacts?page=${2 + n}`],
  ['a deep page of contacts', (n) => `contacts?page=${200 + n}`],
];

for (const [name, path] of reads) {
  test(`${name} is read by a plan that is made once for all its values`, async () => {
    await using connection = await oneConnection();
    for (let n = 0; n < calls; n += 1) await connection.list(`/api/v1/${path(n)}`);
    const plans = await connection.db<{ generic: number; custom: number }[]>`
      select generic_plans::int as generic, custom_plans::int as custom
      from pg_prepared_statements
      where statement like ${'%rate_windows%'}`;
    assert.deepEqual([...plans], [{ generic: calls - 5, custom: 5 }]);
  });
}

/** Prepared statements belong to a connection: a pool of one shows them all. */
async function oneConnection() {
  const single = connect(url, { connections: 1 });
  const { list } = reader(testApp(single), read);
  return { db: single, list, [Symbol.asyncDispose]: () => single.end() };
}

async function firstPage() {
  await using connection = await oneConnection();
  const { data, meta } = await connection.list('/api/v1/responses');
  return { data: data as { id: string }[], next: meta.next_cursor };
}
