import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);
const from = '2024-03-04T00:00:00Z';

/** A week with about 130 responses a day, but few on the third. Some times are equal, also at midnight. */
async function makeScene() {
  const { id: org, read } = await makeClient(db);
  const surveys = [
    await makeSurvey(db, org),
    await makeSurvey(db, org, { audience: 'employee' }),
    await makeSurvey(db, org, { type: 'ces' }),
  ] as const;
  const [owner] = await db<{ id: string }[]>`
    insert into members (email, name) values (${`${org}@members.test`}, 'Ann') returning id`;
  await db`
    insert into memberships (org_id, member_id, role) values (${org}, ${owner!.id}, 'editor')`;
  const [tag] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${org}, 'urgent', '#ffffff') returning id`;
  const scene = { org, surveys, owner: owner!.id, tag: tag!.id, ...reader(app, read) };
  await respond(scene, 0);
  return scene;
}

type Scene = Awaited<ReturnType<typeof makeScene>>;

async function respond(
  { org, surveys, owner, tag }: Pick<Scene, 'org' | 'surveys' | 'owner' | 'tag'>,
  minute: number,
) {
  await db`
    with given as (
      select n, gen_random_uuid() as id,
             ${from}::timestamptz + n / 3 * interval '32 minutes' + ${minute}::int * interval '1 minute' as created_at
      from generate_series(0, 900) n
    ), added as (
      insert into responses (id, org_id, survey_id, score, category, comment, language, chosen_state, owner_id, held_reason,
                             properties, created_at)
      select id, ${org}, (${surveys as readonly string[]}::uuid[])[1 + n % 3], n % 8,
             (array['promoter', 'passive', 'detractor'])[1 + n % 7 % 3], case when n % 11 < 5 then 'Fine' end,
             (array['de', 'en', null])[1 + n % 13 % 3],
             case when n % 17 = 0 then 'done' when n % 19 = 0 then 'open' end,
             case when n % 9 = 0 then ${owner}::uuid end, case when n % 41 = 0 then 'hidden_link' end,
             jsonb_build_object('source', 'shop', 'plan', (array['pro', 'free'])[1 + n % 5 % 2], 'tenth', n % 40),
             created_at
      from given
      where created_at::date <> '2024-03-06' or n % 20 = 0
      returning id
    ), analyzed as (
      insert into analyses (org_id, response_id, sentiment, provider)
      select ${org}, id, (array['negative', 'positive'])[1 + n % 2], 'test' from given join added using (id) where n % 11 < 5
    )
    insert into response_tags (org_id, response_id, tag_id)
    select ${org}, id, ${tag} from given join added using (id) where n % 6 = 0`;
}

/** Each filter alone, and combinations of filters. */
function combinations({ surveys, tag, org }: Scene): string[] {
  const [mine, rare] = ['property.plan=pro', 'property.tenth=7'];
  const owner = `owner=${encodeURIComponent(`${org}@members.test`)}`;
  const filters = [
    mine,
    rare,
    'property.source=shop',
    `tag=${tag}`,
    'sentiment=negative',
    'language=de',
    'state=open',
    'state=done',
    'has_comment=true',
    'has_comment=false',
    owner,
    'owner=none',
    `survey_id=${surveys[1]}`,
    'type=ces',
    'audience=customer',
    'audience=employee',
    'category=promoter',
    'date_from=2024-03-05T07:20:00Z&date_to=2024-03-09',
    'property.no=x',
  ];
  const nameOf = (filter: string) => filter.split('=')[0];
  return filters.flatMap((filter, at) =>
    [0, 1, 2].map((others) =>
      [filter, filters[(at * 5 + 3) % 19]!, filters[(at * 7 + 1) % 19]!]
        .slice(0, 1 + others)
        .filter((one, i, all) => all.findIndex((two) => nameOf(two) === nameOf(one)) === i)
        .join('&'),
    ),
  );
}

async function check(scene: Scene, when: string, step = 1) {
  for (const query of combinations(scene).filter((_, at) => at % step === 0)) {
    const said = `${query}, ${when}`;
    const rows = await byHand(scene, new URLSearchParams(query));
    const expected = rows.map(({ id }) => id);
    const [{ data, meta }, later] = [
      await scene.list(`/api/v1/responses?limit=20&${query}`),
      await scene.list(`/api/v1/responses?limit=20&page=3&${query}`),
    ];
    const ids = ({ data: rows }: { data: { id: string }[] }) => rows.map(({ id }) => id);
    assert.equal(meta.total, expected.length, said);
    assert.deepEqual(ids({ data }), expected.slice(0, 20), said);
    assert.deepEqual(ids(later), expected.slice(40, 60), `page 3 of ${said}`);
    if (!meta.next_cursor) continue;
    const second = await scene.list(
      `/api/v1/responses?limit=20&${query}&cursor=${meta.next_cursor}`,
    );
    assert.deepEqual(ids(second), expected.slice(20, 40), `by cursor: ${said}`);
  }
}

/** Compares scores and trends of facet combinations, over all surveys and over some. */
async function checkScores(scene: Scene, when: string) {
  for (const several of [
    'property.plan=pro&property.source=shop',
    `tag=${scene.tag}&sentiment=negative&property.plan=free`,
  ]) {
    for (const of of ['', `&survey_id=${scene.surveys[0]}`, '&type=ces', '&audience=customer']) {
      const said = `${several}${of}, ${when}`;
      const rows = await byHand(scene, new URLSearchParams(several + of));
      const tally = (some: typeof rows) =>
        ['promoter', 'passive', 'detractor'].map(
          (name) => some.filter(({ category }) => category === name).length,
        );
      const { data } = await scene.json<{ data: Tally }>(`/api/v1/nps?${several}${of}`);
      assert.deepEqual([data.promoters, data.passives, data.detractors], tally(rows), said);
      const days = '&date_from=2024-03-01&date_to=2024-03-15';
      const trend = await scene.json<{ data: (Tally & { start: string })[] }>(
        `/api/v1/nps/trend?${several}${of}${days}`,
      );
      for (const { start, promoters, passives, detractors } of trend.data) {
        const ofDay = rows.filter(({ day }) => day === start);
        assert.deepEqual([promoters, passives, detractors], tally(ofDay), `${start}, ${said}`);
      }
    }
  }
}

type Tally = { promoters: number; passives: number; detractors: number };

/** Counts the rows directly, without facets. */
async function byHand({ org }: Scene, query: URLSearchParams) {
  const on = (name: string) => query.get(name);
  const properties = [...query].filter(([name]) => name.startsWith('property.'));
  const rows = await db<{ id: string; category: string; day: string }[]>`
    select r.id, r.category, (r.created_at at time zone 'UTC')::date::text as day
    from responses r
    join surveys s on s.id = r.survey_id
    left join analyses a on a.response_id = r.id
    where r.org_id = ${org} and held_reason is null
      and not exists (
        select from unnest(${properties.map(([name]) => name.slice(9))}::text[], ${properties.map(([, value]) => value)}::text[]) as wanted (name, value)
        where r.properties ->> name is distinct from value)
      and (${on('tag')}::text is null or exists (select from response_tags t where t.response_id = r.id and t.tag_id::text = ${on('tag')}))
      and (${on('sentiment')}::text is null or a.sentiment = ${on('sentiment')})
      and (${on('language')}::text is null or r.language = ${on('language')})
      and (${on('state')}::text is null or r.state = ${on('state')})
      and (${on('has_comment')}::text is null or (comment is not null) = (${on('has_comment')}::text = 'true'))
      and case when ${on('owner')}::text is null then true when ${on('owner')}::text = 'none' then owner_id is null
          else owner_id = (select id from members where email = ${on('owner')}) end
      and (${on('survey_id')}::text is null or r.survey_id::text = ${on('survey_id')})
      and (${on('type')}::text is null or s.type = ${on('type')})
      and (${on('audience')}::text is null or (s.audience is not distinct from 'employee') = (${on('audience')}::text = 'employee'))
      and (${on('category')}::text is null or category = ${on('category')})
      and (${on('date_from')}::text is null or r.created_at >= ${on('date_from')}::text::timestamptz)
      and (${on('date_to')}::text is null or r.created_at < (${on('date_to')}::text::date + 1)::timestamp at time zone 'UTC')
    order by r.created_at desc, r.id desc`;
  return [...rows];
}

test('combined filters list and count the matching rows', async () => {
  const scene = await makeScene();
  await checkScores(scene, 'at first');
  await check(scene, 'at first');
  for (const [n, [name, change]] of changes.entries()) {
    await change(scene, n);
    await check(scene, name, 6);
  }
});

const some = ({ org }: Scene, n: number) => db`
  select id from responses where org_id = ${org} and (hashtext(id::text) & 15) = ${n % 16}::int and created_at::date <> '2024-03-08'`;

const changes: readonly [name: string, act: (scene: Scene, n: number) => unknown][] = [
  ['deleted', (s, n) => db`delete from responses where id in (${some(s, n)})`],
  ['held', (s, n) => db`update responses set held_reason = 'trap' where id in (${some(s, n)})`],
  ['released', ({ org }) => db`update responses set held_reason = null where org_id = ${org}`],
  [
    'followed up',
    (s, n) => db`update responses set chosen_state = 'done' where id in (${some(s, n)})`,
  ],
  [
    'reopened',
    ({ org }) =>
      db`update responses set chosen_state = null where org_id = ${org} and state = 'done'`,
  ],
  ['owned', (s, n) => db`update responses set owner_id = ${s.owner} where id in (${some(s, n)})`],
  ['commented', (s, n) => db`update responses set comment = 'Well' where id in (${some(s, n)})`],
  ['silent', (s, n) => db`update responses set comment = null where id in (${some(s, n)})`],
  ['translated', (s, n) => db`update responses set language = 'de' where id in (${some(s, n)})`],
  [
    'read anew',
    (s, n) => db`update analyses set sentiment = 'positive' where response_id in (${some(s, n)})`,
  ],
  ['not read', (s, n) => db`delete from analyses where response_id in (${some(s, n)})`],
  ['untagged', (s, n) => db`delete from response_tags where response_id in (${some(s, n)})`],
  [
    'of another plan',
    (s, n) =>
      db`update responses set properties = properties || '{"plan": "pro"}' where id in (${some(s, n)})`,
  ],
  [
    'moved in time',
    (s, n) => db`
      update responses set created_at = created_at + interval '7 hours', category = 'passive' where id in (${some(s, n)})`,
  ],
  ['late', (s, n) => respond(s, n)],
  ['of no member', ({ owner }) => db`delete from memberships where member_id = ${owner}`],
];
