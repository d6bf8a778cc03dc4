import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sql } from '../../src/lib/db/db.ts';
import type { Facet } from '../../src/responses/facets.cte.ts';
import { readNps, readTrend } from '../../src/responses/nps.ts';
import { readInstants } from '../../src/responses/range.ts';
import { everything, type NpsScope } from '../../src/responses/scope.cte.ts';
import { sumScores } from '../../src/responses/score-sums.queries.ts';
import { trendRows } from '../../src/responses/trend.rules.ts';
import { foldTallies } from '../../src/surveys/queries.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);
const from = '2024-03-04T00:00:00Z';
const property = (name: string, value: string): Facet => ({ kind: 'property', name, value });

/** Six days with more than a hundred responses each, of three kinds or of two; all have a source, some a plan, few are alike. */
async function makeScene() {
  const { id: org, read } = await makeClient(db);
  const surveys = [
    await makeSurvey(db, org),
    await makeSurvey(db, org, { audience: 'employee' }),
    await makeSurvey(db, org, { type: 'ces' }),
  ] as const;
  await respond(org, surveys, { many: 900, step: '9 minutes' });
  const [tag] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${org}, 'urgent', '#ffffff') returning id`;
  return { org, surveys, tag: tag!.id, list: reader(app, read).list };
}

type Scene = Awaited<ReturnType<typeof makeScene>>;
type Added = { many: number; step: string };

async function respond(org: string, surveys: readonly string[], { many, step }: Added) {
  await db`
    with given as (
      select n, (${surveys}::uuid[])[1 + n % 3] as survey, gen_random_uuid() as contact,
             ${from}::timestamptz + n * ${step}::interval as created_at
      from generate_series(0, ${many - 1}::int) n
    ), people as (
      insert into contacts (id, org_id, survey_id, email, token, properties)
      select contact, ${org}, survey, contact || '@people.test', contact,
             jsonb_build_object('source', 'shop', 'plan', (array['pro', 'free', 'team'])[1 + n % 7 % 3], 'number', n)
      from given
      where n % 3 > 0 or n % 2 = 0
      returning id
    )
    insert into responses (org_id, survey_id, contact_id, score, category, held_reason, properties, created_at)
    select ${org}, survey, people.id, (n + 3) % 8, (array['promoter', 'passive', 'detractor'])[1 + (n % 5 % 3 + (n % 5 % 3 = n / 160 % 4)::int) % 3],
           case when n % 41 = 0 then 'hidden_link' end,
           case when people.id is null then '{"source": "shop", "plan": "pro"}'::jsonb end, created_at
    from given
    left join people on people.id = contact`;
}

const zones = ['UTC', 'Asia/Kolkata'];

/** Every figure of every facet is what the rows come to that have it. */
async function check({ org, surveys, tag, list }: Scene, when: string, { brief = false } = {}) {
  const facets = [property('source', 'shop'), property('plan', 'pro'), property('number', '7')];
  facets.push({ kind: 'tag', name: '', value: tag });
  facets.push({ kind: 'sentiment', name: '', value: 'negative' });
  const kinds: Partial<NpsScope>[] = [{}, { survey_id: surveys[0] }, { type: 'ces' }];
  kinds.push({ type: 'nps', audience: 'customer' }, { audience: 'employee' });
  // All have the source: with it another facet has the same responses.
  for (const set of [...facets.map((facet) => [facet]), [facets[1]!, facets[0]!]]) {
    for (const kind of brief ? [{}] : kinds) {
      const scope = { ...everything, ...kind, facets: set };
      const said = `${set.map(({ name, kind: of }) => name || of)}, ${JSON.stringify(kind)}, ${when}`;
      await checkTotals(org, scope, said);
      for (const zone of brief ? ['UTC'] : zones)
        await checkTrend(org, { scope, zone, said: `${said}, ${zone}` });
    }
  }
  for (const of of ['', '&category=promoter', `&survey_id=${surveys[1]}`, '&date_to=2024-03-07']) {
    const query = `property.source=shop${of}`;
    const [{ data: all }, { meta }] = [
      await list(`/api/v1/responses?limit=200&${query}`),
      await list(`/api/v1/responses?limit=1&${query}`),
    ];
    assert.ok(all.length === 200 || all.length === meta.total, `${query} ${when}`);
    assert.equal(
      meta.total,
      await countListed(org, new URLSearchParams(query)),
      `${query} ${when}`,
    );
  }
}

async function checkTotals(org: string, scope: NpsScope, said: string) {
  const part = { from: new Date('2024-03-05T07:30:00Z'), to: new Date('2024-03-09T18:00:00Z') };
  for (const range of [everything.range, part]) {
    const { promoters, passives, detractors } = await readNps(db, org, { ...scope, range });
    const rows = await byHand(org, { ...scope, range }, null);
    assert.deepEqual([promoters, passives, detractors], rows[0]?.slice(1, 4) ?? [0, 0, 0], said);
  }
}

type TrendCheck = { scope: NpsScope; zone: string; said: string };

async function checkTrend(org: string, { scope, zone, said }: TrendCheck) {
  const dates = {
    ...({ interval: 'day', timeZone: zone } as const),
    from: readInstants('2024-03-02')!,
    to: readInstants('2024-03-14')!,
  };
  const rows = await readTrend(db, org, { scope, dates });
  const asked = { scope, rows: trendRows(dates, new Date()) };
  const [found] = await db<{ sums: number[] }[]>`select ${sumScores(db, org, asked)} as sums`;
  const shown = rows.map((row, at) => [
    row.start,
    row.promoters,
    row.passives,
    row.detractors,
    found!.sums[at],
  ]);
  assert.deepEqual(
    shown.filter(([, ...counts]) => counts.some((n) => n !== 0)),
    await byHand(org, scope, zone),
    said,
  );
}

/** From the responses and what they have, never from facets: by day of a zone, or as one row. */
async function byHand(org: string, scope: NpsScope, zone: string | null) {
  const { kind, name, value } = scope.facets[0]!;
  const { survey_id, type, audience, range } = scope;
  const rows = await db<{ day: string; p: number; q: number; d: number; scores: number }[]>`
    select case when ${zone}::text is not null then (r.created_at at time zone ${zone})::date::text end as day,
           count(*) filter (where category = 'promoter')::int as p, count(*) filter (where category = 'passive')::int as q,
           count(*) filter (where category = 'detractor')::int as d, sum(score)::int as scores
    from responses r
    join surveys s on s.id = r.survey_id
    left join contacts c on c.id = r.contact_id
    where r.org_id = ${org} and held_reason is null
      and case ${kind}::text
        when 'property' then case when r.contact_id is null then r.properties else c.properties end ->> ${name}::text = ${value}
        when 'tag' then exists (select from response_tags t where t.response_id = r.id and t.tag_id::text = ${value})
        else exists (select from analyses a where a.response_id = r.id and a.sentiment = ${value}) end
      and s.id = coalesce(${survey_id}::uuid, s.id) and s.type = coalesce(${type}::text, s.type)
      and (${audience}::text is null or (s.audience is not distinct from 'employee') = (${audience}::text = 'employee'))
      and r.created_at >= coalesce(${range.from}::timestamptz, '-infinity') and r.created_at < coalesce(${range.to}::timestamptz, 'infinity')
    group by 1
    having count(*) filter (where score > 0 or category is not null) > 0
    order by 1`;
  return rows.map(({ day, p, q, d, scores }) => [day, p, q, d, scores]);
}

async function countListed(org: string, query: URLSearchParams) {
  const [row] = await db<{ n: number }[]>`
    select count(*)::int as n
    from responses r
    left join contacts c on c.id = r.contact_id
    where r.org_id = ${org} and held_reason is null
      and case when r.contact_id is null then r.properties else c.properties end ->> 'source' = 'shop'
      and category = coalesce(${query.get('category')}::text, category)
      and r.survey_id = coalesce(${query.get('survey_id')}::uuid, r.survey_id)
      and r.created_at < coalesce(${query.get('date_to')}::date + 1, '2990-01-01')`;
  return row!.n;
}

const keptDays = async (org: string) =>
  (await db`select distinct day from facet_day_tallies where org_id = ${org}`).length;

/** Some of the responses, others each time. */
const some = (sql: Sql, { org }: Scene, n: number) => sql`
  select id from responses
  where org_id = ${org} and (hashtext(id::text) & 15) = ${n % 16}::int`;

/** What may become of responses, after their days were counted or before. */
const changes: readonly [name: string, act: (sql: Sql, scene: Scene, n: number) => unknown][] = [
  ['deleted', (sql, scene, n) => sql`delete from responses where id in (${some(sql, scene, n)})`],
  [
    'held',
    (sql, scene, n) =>
      sql`update responses set held_reason = 'hidden_link' where id in (${some(sql, scene, n)})`,
  ],
  [
    'released',
    (sql, scene) =>
      sql`update responses set held_reason = null where org_id = ${scene.org} and held_reason is not null`,
  ],
  [
    'tagged',
    (sql, { org, tag, ...scene }, n) => sql`
    insert into response_tags (org_id, response_id, tag_id)
    select ${org}, id, ${tag} from (${some(sql, { org, tag, ...scene }, n)}) s on conflict do nothing`,
  ],
  [
    'untagged',
    (sql, scene, n) => sql`delete from response_tags where response_id in (${some(sql, scene, n)})`,
  ],
  [
    'analyzed',
    (sql, scene, n) => sql`
    insert into analyses (org_id, response_id, sentiment, provider)
    select ${scene.org}, id, (array['negative', 'positive'])[1 + ${n}::int % 2], 'test' from (${some(sql, scene, n)}) s
    on conflict (org_id, response_id) do update set sentiment = excluded.sentiment`,
  ],
  [
    'of another plan',
    (sql, scene, n) => sql`
    update contacts set properties = properties || '{"plan": "pro"}'
    where id in (select contact_id from responses where id in (${some(sql, scene, n)}))`,
  ],
  [
    'of no plan',
    (sql, scene, n) => sql`
    update responses set properties = null
    where contact_id is null and id in (${some(sql, scene, n)})`,
  ],
  [
    'anonymous',
    (sql, scene, n) =>
      sql`update responses set contact_id = null where id in (${some(sql, scene, n)})`,
  ],
  [
    'moved in time',
    (sql, scene, n) => sql`
    update responses set created_at = created_at + interval '9 hours', category = 'passive', score = 7
    where id in (${some(sql, scene, n)})`,
  ],
  [
    'late',
    async (_, { org, surveys }) => await respond(org, surveys, { many: 130, step: '83 minutes' }),
  ],
];

test('figures of facets are those of the rows before, while and after their days are counted', async () => {
  const scene = await makeScene();
  await check(scene, 'before');
  await foldTallies(db);
  assert.ok((await keptDays(scene.org)) >= 5);
  await check(scene, 'kept');
  for (const [n, [name, act]] of changes.entries()) {
    await act(db, scene, n);
    await check(scene, `${name}, not counted`, { brief: true });
    await act(db, scene, n + 5);
    await foldTallies(db);
    await check(scene, `${name}, counted`);
  }
  const [left] = await db<{ n: number }[]>`
    select count(*)::int as n from facet_changes where org_id = ${scene.org} and day < current_date`;
  assert.equal(left?.n, 0);
});

test('a change that commits after its day was counted is seen', async () => {
  for (const [n, [name, act]] of changes.entries()) {
    if (name === 'late') continue; // it writes on another connection
    const scene = await makeScene();
    await act(db, scene, n + 1);
    await db.begin(async (tx) => {
      await act(tx, scene, n);
      await foldTallies(db); // must not wait for the change
    });
    await check(scene, `${name} while counted`, { brief: true });
    await foldTallies(db);
    await check(scene, `${name}, counted again`, { brief: true });
  }
});

test('figures of what was deleted or made anonymous go with it at once', async () => {
  const scene = await makeScene();
  const find = () => db<{ n: number }[]>`
    select count(*)::int as n from facet_day_tallies
    where org_id = ${scene.org} and facet = facet_of('property', 'only', 'Ada')`;
  for (const erase of [
    () => db`delete from responses where survey_id = ${scene.surveys[2]}`,
    () =>
      db`update responses set contact_id = null, properties = null where survey_id = ${scene.surveys[1]}`,
  ]) {
    const survey = erase.toString().includes('delete') ? scene.surveys[2] : scene.surveys[1];
    await db`update contacts set properties = properties || '{"only": "Ada"}' where survey_id = ${survey}`;
    await foldTallies(db);
    assert.ok((await find())[0]!.n > 0);
    await erase();
    assert.equal((await find())[0]!.n, 0);
    await foldTallies(db);
    assert.equal((await find())[0]!.n, 0);
  }
});
