import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { idsByCursor, reader } from '../support/probe/read.ts';

/** Beyond the first rows a page is found through the kept tallies: it must hold what counting off would. */
const { db } = await testDatabase();
const { id: org_id, read } = await makeClient(db);
const { list, ids } = reader(testApp(db), read);
const surveys = [await makeSurvey(db, org_id), await makeSurvey(db, org_id)];

// Several rows an instant, from several connections so that the tallies lie in several slots, with
// empty days and held answers between.
await Promise.all(
  surveys.map(
    (survey) => db`
      insert into responses (org_id, survey_id, score, category, held_reason, created_at)
      select ${org_id}, ${survey}, 9,
             (array['promoter', 'passive', 'detractor'])[1 + n % 3],
             case when n % 11 = 0 then 'trap' end,
             '2024-05-01T00:00:00Z'::timestamptz + n / 3 * interval '7 hours'
               + case when n > 500 then interval '40 days' else interval '0' end
      from generate_series(1, 900) n`,
  ),
);
await Promise.all(
  surveys.map(
    (survey) => db`
      insert into contacts (org_id, survey_id, email, token, created_at)
      select ${org_id}, ${survey}, n || '@people.test', ${survey} || n,
             '2024-05-01T00:00:00Z'::timestamptz + n / 3 * interval '7 hours'
      from generate_series(1, 700) n`,
  ),
);
// Another organization has answers of the same days.
const other = await makeOrganization(db);
await db`
  insert into responses (org_id, survey_id, score, category, created_at)
  select ${other}, ${await makeSurvey(db, other)}, 9, 'passive', '2024-05-01T00:00:00Z'::timestamptz + n * interval '1 day'
  from generate_series(1, 80) n`;

const filters = [
  'responses?',
  'responses?category=passive',
  `responses?survey_id=${surveys[0]}`,
  `responses?survey_id=${surveys[1]}&category=detractor`,
  'responses?date_to=2024-09-01',
  'responses?date_to=2024-09-01T13:00:00Z',
  'responses?date_from=2024-05-03T10:00:00Z&date_to=2024-09-01T13:00:00Z',
  `responses?survey_id=${surveys[0]}&date_to=2024-10-01T08:00:00Z`,
  'contacts?',
];

for (const filter of filters) {
  test(`/${filter.replaceAll(/[0-9a-f-]{36}/g, 'ID')} has the same rows by deep page as by cursor`, async () => {
    const path = `/api/v1/${filter}`;
    const all = await idsByCursor(list, `${path}&limit=200`);

    for (const limit of [7, 50]) {
      for (let page = 1; (page - 1) * limit < all.length + limit; page += limit === 7 ? 13 : 1) {
        const expected = all.slice((page - 1) * limit, page * limit);
        assert.deepEqual(await ids(`${path}&limit=${limit}&page=${page}`), expected, `${page}`);
      }
    }
    assert.deepEqual(await ids(`${path}&limit=1&page=${all.length}`), all.slice(-1));
    const { meta } = await list(`${path}&limit=1&page=1200`);
    assert.equal(meta.total, all.length);
  });
}

test('a page far past the end is empty', async () => {
  const { data, meta } = await list('/api/v1/responses?limit=200&page=999999999');
  assert.deepEqual([data, meta.next_cursor], [[], null]);
});
