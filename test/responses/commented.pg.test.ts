import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db } = await testDatabase();
const app = testApp(db);

const from = '2024-10-20T00:00:00Z';

/** Busy days, and between them days with few responses. */
async function makeScene() {
  const { id: org, read } = await makeClient(db);
  const [nps, ces] = [await makeSurvey(db, org), await makeSurvey(db, org, { type: 'ces' })];
  await db`
    insert into responses (org_id, survey_id, score, category, comment, held_reason, created_at)
    select ${org}, (${[nps, ces]}::uuid[])[1 + n % 2], 5, (array['promoter', 'passive', 'detractor'])[1 + n / 2 % 3],
           case when n % 7 < 3 then 'Fine' end, case when n % 97 = 0 then 'hidden_link' end, created_at
    from (
      select n, ${from}::timestamptz + n * interval '17 minutes' as created_at from generate_series(0, 1200) n
    ) each
    where extract(day from created_at)::int % 4 <> 2 or n % 50 = 0`;
  const { list } = reader(app, read);
  const check = (when: string) => checkCounts({ org, nps, list, when });
  return { org, check };
}

type Checked = {
  org: string;
  nps: string;
  list: ReturnType<typeof reader>['list'];
  when: string;
};

/** By survey, kind, category and range, with a comment and without one. */
async function checkCounts({ org, nps, list, when }: Checked) {
  const ranges = ['', '&date_from=2024-10-21T05:17:00Z&date_to=2024-10-30T16:41:00Z'];
  ranges.push('&date_from=2024-10-23&date_to=2024-10-23', '&date_from=2024-10-25');
  for (const of of ['', `&survey_id=${nps}`, '&type=nps', '&category=passive']) {
    for (const range of ranges) {
      for (const has of [true, false]) {
        const query = `has_comment=${has}${of}${range}`;
        const { meta } = await list(`/api/v1/responses?limit=1&${query}`);
        assert.equal(
          meta.total,
          await countByHand(org, new URLSearchParams(query)),
          `${query}, ${when}`,
        );
      }
    }
  }
}

async function countByHand(org: string, query: URLSearchParams) {
  const on = (name: string) => query.get(name);
  const [row] = await db<{ n: number }[]>`
    select count(*)::int as n
    from responses r
    join surveys s on s.id = r.survey_id
    where r.org_id = ${org} and held_reason is null and (comment is not null) = ${on('has_comment') === 'true'}
      and s.id = coalesce(${on('survey_id')}::uuid, s.id) and s.type = coalesce(${on('type')}::text, s.type)
      and category = coalesce(${on('category')}::text, category)
      and r.created_at >= coalesce(${on('date_from')}::text, '1990-01-01')::timestamptz
      and r.created_at < coalesce(
        case length(${on('date_to')}::text)
          when 10 then ${on('date_to')}::text::timestamptz + interval '1 day'
          else ${on('date_to')}::text::timestamptz + interval '1 millisecond' end, '2990-01-01')`;
  return row!.n;
}

test('comments are counted as they are erased, added and deleted', async () => {
  const { org, check } = await makeScene();
  await check('at first');
  await db`
    update responses set comment = null
    where org_id = ${org} and extract(day from created_at)::int = 21 and extract(minute from created_at) < 30`;
  await db`
    update responses set comment = 'Late'
    where org_id = ${org} and extract(day from created_at)::int = 24 and comment is null`;
  await check('changed');
  await db`delete from responses where org_id = ${org} and extract(day from created_at)::int = 27 and comment is not null`;
  await check('deleted');
  await assertTalliesHold(db);
});
