import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeSurvey } from '../../support/make/rows.ts';
import { testApp } from '../../support/probe/app.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { reader } from '../../support/probe/read.ts';

/** From 500 rows on a page is found by its month of 31 days, and then by its hour. */
const { db } = await testDatabase();
const { id: org_id, read } = await makeClient(db);
const { list, ids } = reader(testApp(db), read);
const survey_id = await makeSurvey(db, org_id);
const [days, perDay] = [70, 20];

// The last day is the last of its month, so that the third month back begins inside of the list.
const lastDay = db`(date '0001-01-01' + 31 * ((date '2024-06-01' - date '0001-01-01') / 31) - 1)`;
await db`
  insert into responses (org_id, survey_id, score, category, created_at)
  select ${org_id}, ${survey_id}, 9, 'promoter',
         (${lastDay} - day)::timestamp at time zone 'UTC' + (n % ${perDay / 2}) * interval '144 minutes'
  from generate_series(0, ${days - 1}) day, generate_series(1, ${perDay}) n`;
const sorted = await db<{ id: string }[]>`
  select id from responses where org_id = ${org_id} order by created_at desc, id desc`;
const all = sorted.map(({ id }) => id);

test('the last row of each day and month, and the first of the next, are where they are without pages', async () => {
  for (let day = 25; day < days; day++) {
    for (const place of [day * perDay - 1, day * perDay]) {
      const found = await ids(`/api/v1/responses?limit=1&page=${place + 1}`);
      assert.deepEqual(found, [all[place]], `row ${place} of day ${day}`);
    }
  }
});

test('a deep page of the longest length has as many rows, and leads to the next one', async () => {
  for (const page of [3, 4, 5, 6, 7]) {
    const start = (page - 1) * 200;
    const { data, meta } = await list(`/api/v1/responses?limit=200&page=${page}`);
    assert.deepEqual(
      (data as { id: string }[]).map(({ id }) => id),
      all.slice(start, start + 200),
    );
    assert.equal(meta.next_cursor !== null, page < 7, `page ${page}`);
    if (meta.next_cursor === null) continue;
    const next = await ids(`/api/v1/responses?limit=200&cursor=${meta.next_cursor}`);
    assert.deepEqual(next, all.slice(start + 200, start + 400));
  }
});

test('a page has 50 rows where no limit is asked for', async () => {
  const { data, meta } = await list('/api/v1/responses?page=2');
  assert.deepEqual([data.length, meta.limit], [50, 50]);
  assert.equal((data[0] as { id: string }).id, all[50]);
});
