import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeSurvey } from '../../support/make/rows.ts';
import { testApp } from '../../support/probe/app.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { idsByCursor, idsByPage, reader } from '../../support/probe/read.ts';

/** Rules for every list of the API, with rows that are hard to page through. */
const { db } = await testDatabase();
const { id: org_id, read } = await makeClient(db);
const stranger = await makeClient(db);
const { list } = reader(testApp(db), read);

// Groups of three rows with equal times, a microsecond apart.
const moment = db`'2024-05-01T00:00:00.000997Z'::timestamptz + n / 3 * interval '1 microsecond'`;
const rows = 40;
const numbers = db`generate_series(1, ${rows}) n`;

async function fill(org: string) {
  const survey = await makeSurvey(db, org, { created_at: '2024-01-01' });
  await db`
    insert into surveys (org_id, name, question_text, from_name, from_email, reply_to, share_id, created_at)
    select ${org}, 'S', 'Q', 'A', 'a@acme.test', 'a@acme.test', ${org} || n, ${moment} from ${numbers}`;
  await db`
    insert into contacts (org_id, survey_id, email, token, created_at)
    select ${org}, ${survey}, n || '@people.test', ${org} || n, ${moment} from ${numbers}`;
  await db`
    insert into responses (org_id, survey_id, score, category, comment, held_reason, created_at)
    select ${org}, ${survey}, 9, 'promoter', 'found', held, ${moment}
    from ${numbers}, unnest(array[null, 'trap']) held`;
  await db`
    insert into summaries (org_id, period_start, period_end, responses, text, created_at)
    select ${org}, now(), now(), 0, '', ${moment} from ${numbers}`;
  await db`
    insert into suppressions (org_id, email, kind, created_at)
    select ${org}, n || '@people.test', 'bounced', ${moment} from ${numbers}`;
  return survey;
}

const survey = await fill(org_id);
await fill(stranger.id);

const lists: [path: string, table: string, condition?: string][] = [
  ['surveys?', 'surveys'],
  ['contacts?', 'contacts'],
  ['responses?', 'responses', 'held_reason is null'],
  ['responses?held=true', 'responses', 'held_reason is not null'],
  ['responses?search=foun', 'responses', 'held_reason is null'],
  ['responses?category=promoter', 'responses', 'held_reason is null'],
  [`responses?survey_id=${survey}`, 'responses', 'held_reason is null'],
  ['summaries?', 'summaries'],
  ['suppressions?', 'suppressions'],
  ['suppressions?kind=bounced', 'suppressions'],
];

for (const [query, table, condition = 'true'] of lists) {
  const path = `/api/v1/${query}`;
  const name = `GET /${query.replace(survey, 'ID')}`;

  test(`${name} has every row once, newest first, by page and by cursor`, async () => {
    const newestFirst = await db<{ id: string }[]>`
      select id from ${db(table)}
      where org_id = ${org_id} and ${db.unsafe(condition)}
      order by created_at desc, id desc`;
    const expected = newestFirst.map(({ id }) => id);
    assert.ok(expected.length >= rows);
    for (const limit of [2, 7, 200]) {
      assert.deepEqual(await idsByPage(list, `${path}&limit=${limit}`), expected, `${limit}`);
      assert.deepEqual(await idsByCursor(list, `${path}&limit=${limit}`), expected, `${limit}`);
    }
  });

  test(`${name} gives no cursor after its last row`, async () => {
    const { total } = (await list(path)).meta;
    const { data, meta } = await list(`${path}&limit=${total}`);
    assert.deepEqual([data.length, meta.next_cursor], [total, null]);
    assert.notEqual((await list(`${path}&limit=${total - 1}`)).meta.next_cursor, null);
  });

  test(`${name} is empty past its end`, async () => {
    const { total } = (await list(path)).meta;
    for (const page of ['42', '9999999999', '99999999999999999999', '9'.repeat(400)]) {
      const { data, meta } = await list(`${path}&limit=200&page=${page}`);
      assert.deepEqual([data, meta.total, meta.next_cursor], [[], total, null], page);
    }
  });

  test(`${name} clamps the limit to 200`, async () => {
    for (const limit of ['201', '2147483648', '9999999999', '9'.repeat(400)]) {
      assert.equal((await list(`${path}&limit=${limit}`)).meta.limit, 200, limit);
    }
  });

  test(`${name} lists ignored parameters`, async () => {
    const { meta } = await list(`${path}&surveyid=1&__proto__=1&%22=2&toString=&limit=2`);
    assert.deepEqual(meta.ignored, ['surveyid', '__proto__', '"', 'toString']);
    assert.equal('ignored' in (await list(path)).meta, false);
  });
}
