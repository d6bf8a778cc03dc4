import assert from 'node:assert/strict';
import { test } from 'node:test';
import { categoryOf, signedNps, surveyTypes, typeFacts } from '../../src/survey-types.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** Answers over a year, of two plans, tagged and commented now and then, some of them held. */
async function scene() {
  const { id: org, read } = await makeClient(db, { time_zone: 'America/Los_Angeles' });
  const surveys = new Map<string, string>();
  for (const type of surveyTypes) {
    const survey = await makeSurvey(db, org, { type });
    surveys.set(type, survey);
    const { lowest, highest } = typeFacts(type);
    const scores = Array.from({ length: highest - lowest + 1 }, (_, step) => lowest + step);
    const categories = scores.map((score) => categoryOf(type, score));
    await db`
      with people as (
        insert into contacts (org_id, survey_id, email, token, properties)
        select ${org}, ${survey}, 'p' || n || '@people.test', gen_random_uuid(),
               jsonb_build_object('plan', (array['pro', 'free'])[1 + n % 2])
        from generate_series(1, 150) n
        returning id, email
      )
      insert into responses (org_id, survey_id, contact_id, source, score, category, held_reason, comment, language, created_at)
      select ${org}, ${survey}, id, 'link', score,
             (${categories}::text[])[score - ${lowest}::int + 1],
             case when n % 11 = 0 then 'hidden_field' end, case when n % 3 = 0 then 'comment ' || n end,
             (array['en', 'de'])[1 + n % 2], now() - n * interval '37 hours 13 minutes'
      from (
        select id, n, ${lowest} + (n * 7 + n / 13) % ${highest - lowest + 1} as score
        from people, lateral (select substring(email from '[0-9]+')::int as n) number
      ) given`;
  }
  const [tag] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${org}, 'billing', '#ffffff') returning id`;
  await db`
    insert into response_tags (org_id, response_id, tag_id)
    select org_id, id, ${tag!.id} from responses where org_id = ${org} and score % 3 = 0`;
  await db`
    insert into analyses (org_id, response_id, sentiment, themes, churn_risk, summary, provider)
    select org_id, id, case when score > 3 then 'positive' else 'negative' end, '{}', 'low', 'x', 'built-in'
    from responses where org_id = ${org} and comment is not null`;
  const browser = await memberBrowser(db, { app, org, role: 'viewer' });
  return { org, surveys, tag: tag!.id, ...browser, api: reader(app, read) };
}

const shared = await scene();

type Counted = { data: { total: number }; meta: { total: number } };

test('the inbox finds as many responses as the API, by whatever it is filtered', async () => {
  const { home, get, api, tag, surveys } = shared;
  const days = `date_from=${day(120)}&date_to=${day(3)}`;
  for (const query of [
    '',
    'category=detractor',
    `survey_id=${surveys.get('nps')}`,
    `tag=${tag}`,
    `tag=${tag}&property.plan=pro`,
    'property.plan=free',
    'property.plan=free&category=promoter',
    'sentiment=negative',
    'language=de',
    'has_comment=true',
    'has_comment=false',
    'state=open',
    'search=comment%203',
    'held=true',
    days,
    `${days}&property.plan=pro&category=passive`,
  ]) {
    const path = `/api/v1/responses?${query}&tz=America/Los_Angeles&limit=1`;
    const { meta } = await api.json<Counted>(path);
    const html = await (await get(`${home}/responses?${query}`)).text();
    assert.ok(html.includes(`<h2>${meta.total} response`), `${query}: ${meta.total}`);
    assert.ok(meta.total > 0, query);
    const counted = /search|state|comment|language|held|category/.test(query)
      ? undefined
      : (await api.json<Counted>(`/api/v1/nps?${query}&tz=America/Los_Angeles`)).data.total;
    assert.ok(counted === undefined || counted === meta.total, `${query}: ${counted}`);
  }
});

test('segments add up: the totals and trends of both plans are those of all', async () => {
  const { api } = shared;
  const of = async (query: string) => {
    const { data } = await api.json<{ data: Rollup }>(`/api/v1/nps?type=nps&${query}`);
    const { data: rows } = await api.json<{ data: Rollup[] }>(
      `/api/v1/nps/trend?type=nps&interval=month&date_from=${day(240)}&tz=Asia/Kolkata&${query}`,
    );
    return [data, ...rows].map(({ promoters, passives, detractors }) => [
      promoters,
      passives,
      detractors,
    ]);
  };
  const [all, pro, free] = [
    await of(''),
    await of('property.plan=pro'),
    await of('property.plan=free'),
  ];
  assert.deepEqual(
    all,
    pro.map((row, at) => row.map((count, place) => count + free[at]![place]!)),
  );
});

type Rollup = Record<'promoters' | 'passives' | 'detractors' | 'promoter_pct' | 'total', number>;
type Stats = { data: { stats: { nps: number; avg_score: number; total_responses: number } } };

for (const type of surveyTypes) {
  test(`the page of a survey shows what the API answers for it: ${type}`, async () => {
    const { home, get, api, surveys } = shared;
    const id = surveys.get(type)!;
    const html = await (await get(`${home}/surveys/${id}`)).text();
    const { stats } = (await api.json<Stats>(`/api/v1/surveys/${id}`)).data;
    const { data } = await api.json<{ data: Rollup }>(`/api/v1/nps?survey_id=${id}`);
    const value = {
      nps: signedNps(stats.nps),
      csat: `${data.promoter_pct}%`,
      thumbs: `${data.promoter_pct}%`,
      ces: stats.avg_score.toFixed(2),
      star5: stats.avg_score.toFixed(2),
    }[type];
    assert.ok(html.includes(`<strong>${value}</strong>`), `${type} ${value}`);
    assert.match(html, new RegExp(`${data.total} (answers|responses)`));
    assert.equal(data.total, stats.total_responses);
  });
}
