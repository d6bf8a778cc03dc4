import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Interval } from '../../src/intervals.ts';
import {
  formatInterval,
  formatValue,
  measure,
  type SurveyType,
  typeFacts,
} from '../../src/survey-types.ts';
import { count } from '../../src/web/app/lists.tsx';
import { offManually } from '../../src/webhooks/rules.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

const day = (daysAgo: number) =>
  new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

type Scene = {
  org: string;
  base: string;
  cookie: { Cookie: string };
  headers: Record<string, string>;
};

async function makeScene(over: Record<string, unknown> = {}): Promise<Scene> {
  const { id: org, read } = await makeClient(db, over);
  const cookie = await signIn(db, { org, role: 'viewer' });
  return {
    org,
    base: `/o/${await slugOfOrganization(db, org)}`,
    cookie,
    headers: read,
  };
}

const few = { every: '9 hours 13 minutes', many: 480 };
/** More than ten a day. */
const dense = { every: '1 hour 53 minutes', many: 2_400 };

/** Responses over half a year at all hours, some of them on hold. All surveys of a type get the same ones. */
async function fill({ org }: Scene, type: SurveyType, { every, many } = few) {
  const survey = await makeSurvey(db, org, { type });
  const { lowest, highest } = typeFacts(type);
  await db`
    insert into responses (org_id, survey_id, source, score, category, held_reason, comment, created_at)
    select ${org}, ${survey}, 'share', score,
           case when score > ${(lowest + highest) * 0.7}::float8 then 'promoter'
                when score > ${(lowest + highest) / 2}::float8 then 'passive' else 'detractor' end,
           case when n % 11 = 0 then 'hidden_field' end, 'comment ' || n,
           now() - n * ${every}::interval
    from (
      select n, ${lowest} + (n * 7 + n / 13) % ${highest - lowest + 1} as score
      from generate_series(0, ${many}::int) n
    ) scores`;
  return survey;
}

const getPage = async ({ base, cookie }: Scene, query: string) => {
  const answer = await app.request(`${base}${query}`, { headers: cookie });
  return { status: answer.status, html: await answer.text() };
};

const getData = async ({ headers }: Scene, path: string) =>
  ((await (await app.request(`/api/v1${path}`, { headers })).json()) as { data: never }).data;

type Rollup = { interval: Interval | null } & Record<
  | 'nps'
  | 'total'
  | 'promoters'
  | 'passives'
  | 'detractors'
  | 'promoter_pct'
  | 'passive_pct'
  | 'detractor_pct',
  number
>;

/** Cells of the table behind the trend, by row. */
const tableOf = (html: string) =>
  [...html.matchAll(/<tr><th scope="row">([^<]*)<\/th>(.*?)<\/tr>/g)].map(([, head, cells]) => [
    head,
    ...[...cells!.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell),
  ]);

const numberOf = (text: string | undefined) => Number(text?.replaceAll(',', ''));

for (const zone of ['UTC', 'America/Los_Angeles', 'Asia/Kolkata']) {
  test(`Home shows the numbers of the API for the same days in ${zone}`, async () => {
    const scene = await makeScene({ time_zone: zone });
    await fill(scene, 'nps', dense);
    for (const { query, days, interval } of [
      { query: '', days: 90, interval: 'week' },
      { query: '?period=7d', days: 7, interval: 'day' },
      { query: '?period=30d', days: 30, interval: 'day' },
      { query: '?period=365d', days: 365, interval: 'month' },
    ]) {
      const [{ today } = { today: '' }] = await db<{ today: string }[]>`
        select (now() at time zone ${zone})::date::text as today`;
      const from = new Date(Date.parse(today) - (days - 1) * 86_400_000).toISOString().slice(0, 10);
      const dates = `date_from=${from}&date_to=${today}&tz=${encodeURIComponent(zone)}`;
      const rows: (Rollup & { start: string })[] = await getData(
        scene,
        `/nps/trend?type=nps&interval=${interval}&${dates}`,
      );
      const { html } = await getPage(scene, query);
      const table = tableOf(html).toReversed();
      assert.deepEqual(
        table.map(([, score, sure, ...counts]) => [score, sure, ...counts.map(numberOf)]),
        rows.map((row) => [
          row.nps === null ? '–' : formatValue('nps', row.nps),
          row.interval === null ? '–' : formatInterval('nps', row.interval),
          row.promoters,
          row.passives,
          row.detractors,
          row.total,
        ]),
        query,
      );
      await assertTotals(scene, html, `type=nps&${dates}`);
      const [, link] = /href="([^"]+)">All [\d,]+ responses/.exec(html) ?? [];
      const inbox = await app.request(link!.replaceAll('&amp;', '&'), { headers: scene.cookie });
      const [, total] = /All ([\d,]+) responses/.exec(html) ?? [];
      assert.ok((await inbox.text()).includes(`<h2>${total} responses</h2>`), `${link} ${total}`);
    }
  });
}

async function assertTotals(scene: Scene, html: string, query: string) {
  const { nps, interval, total, ...rest }: Rollup = await getData(scene, `/nps?${query}`);
  const sure = `95% interval ${formatInterval('nps', interval!)}`;
  assert.ok(html.includes(`Net Promoter Score ${formatValue('nps', nps)}, ${sure}"`), query);
  assert.ok(html.includes(`All ${count(total)} responses`));
  for (const name of ['promoter', 'passive', 'detractor'] as const) {
    assert.ok(
      html.includes(`<dd>${rest[`${name}_pct`]}% <small>${count(rest[`${name}s`])}</small></dd>`),
      name,
    );
  }
}

for (const zone of ['UTC', 'Asia/Kolkata']) {
  test(`stars show the mean and its interval in ${zone}`, async () => {
    const scene = await makeScene({ time_zone: zone });
    await fill(scene, 'star5', dense);
    const { html } = await getPage(scene, '?period=30d');
    const counted = await db<
      { mean: string; total: number; score_sum: number; variance: number }[]
    >`
      select (created_at at time zone ${zone})::date::text as day, round(avg(score), 2)::text as mean,
             count(*)::int as total, sum(score)::int as score_sum, var_samp(score)::float8 as variance
      from responses
      where org_id = ${scene.org} and held_reason is null
        and (created_at at time zone ${zone})::date > (now() at time zone ${zone})::date - 30
      group by grouping sets ((), (1))
      order by 1 desc nulls first`;
    const [all, ...days] = counted;
    const tally = { promoters: all!.total, passives: 0, detractors: 0, score_sum: all!.score_sum };
    const { interval } = measure('star5', tally, all!.variance);
    const sure = `95% interval ${formatInterval('star5', interval!)}`;
    assert.ok(html.includes(` ${all!.mean}, ${sure}"`), all!.mean);
    const means = tableOf(html).map(([, mean]) => mean);
    assert.deepEqual(
      means.filter((mean) => mean !== '–'),
      days.map(({ mean }) => mean),
    );
  });
}

test('few responses are shown as a moving score', async () => {
  const scene = await makeScene();
  await fill(scene, 'nps');
  const week = (await getPage(scene, '?period=7d')).html;
  assert.match(week, /aria-label="Net Promoter Score of the last 30 days\. /);
  const month: Rollup = await getData(scene, `/nps?date_from=${day(29)}&date_to=${day(0)}`);
  const [newest] = tableOf(week);
  assert.equal(newest?.[1], formatValue('nps', month.nps));
  assert.equal(Number(newest?.at(-1)), month.total);
  assert.equal(tableOf(week).length, 7);
  const days30 = (await getPage(scene, '?period=30d')).html;
  assert.match(days30, /aria-label="Net Promoter Score of the last 30 days\. /);
});

test("Home returns 404 for another organization's survey", async () => {
  const [own, other] = [await makeScene(), await makeScene()];
  await fill(own, 'nps');
  const survey = await fill(other, 'nps');
  assert.equal((await getPage(own, `?survey_id=${survey}`)).status, 404);
  assert.equal((await getPage(own, '?survey_id=nonsense')).status, 404);
  assert.equal((await getPage(other, `?survey_id=${survey}`)).status, 200);
});

test('Home shows employees and customers separately', async () => {
  const scene = await makeScene();
  await fill(scene, 'nps');
  await makeSurvey(db, scene.org, { type: 'nps', audience: 'employee' });
  const { html } = await getPage(scene, '?type=nps&audience=employee');
  assert.match(html, /No responses in the last 90 days/);
  assert.match((await getPage(scene, '')).html, /Net Promoter Score, customers/);
});

test('Home links to the responses it counts', async () => {
  const scene = await makeScene();
  await fill(scene, 'nps');
  await fill(scene, 'star5');
  await fill(scene, 'csat');
  for (const type of ['nps', 'star5', 'csat']) {
    const { html } = await getPage(scene, `?type=${type}&period=30d`);
    const links = html.matchAll(/href="([^"]+\/responses\?[^"]*)"/g);
    const hrefs = [...links].map(([, href]) => href!.replaceAll('&amp;', '&'));
    const ofKind = hrefs.filter((href) => href.includes(`type=${type}`));
    assert.equal(ofKind.length, 4, hrefs.join(' '));
    const totals = await Promise.all(ofKind.map((href) => totalOf(scene, href)));
    const all = Number(/All (\d+) responses/.exec(html)?.[1]);
    const shares = [...html.matchAll(/<small>(\d+)<\/small><\/dd>/g)].map(([, n]) => Number(n));
    assert.deepEqual(totals.toSorted(), [all, ...shares].toSorted(), type);
  }
});

/** The number of responses in the list at a URL. */
async function totalOf({ cookie }: Scene, href: string) {
  const text = await (await app.request(href, { headers: cookie })).text();
  return Number(/<h2>(\d+) responses?<\/h2>/.exec(text)?.[1] ?? 0);
}

test('Home links to everything that needs attention', async () => {
  const scene = await makeScene({ monthly_send_limit: 100 });
  await fill(scene, 'nps');
  await db`insert into mail_usage (org_id, month, used) values (${scene.org}, date_trunc('month', now() at time zone 'UTC')::date, 83)`;
  await db`
    insert into webhooks (org_id, url, events, secret, active, failure_count, deactivated_at, deactivated_reason)
    values (${scene.org}, 'https://hooks.acme.test/crm?token=x', '{response.received}', '\\x00', false, 3, now(), 'failures')`;
  const { html } = await getPage(scene, '');
  assert.match(html, /Webhook turned off/);
  assert.match(html, /hooks\.acme\.test failed 3 times in a row/);
  assert.doesNotMatch(html, /token=x/);
  assert.match(html, /83% of this month’s emails used/);
  assert.match(html, /44 responses on hold/);
  assert.match(html, /\d+ detractors unassigned/);
});

test('the link of unassigned detractors lists exactly those', async () => {
  const scene = await makeScene({ time_zone: 'America/Los_Angeles' });
  await fill(scene, 'nps');
  const cookie = await signIn(db, { org: scene.org, role: 'editor' });
  await db`
    update responses
    set owner_id = (select member_id from memberships where org_id = ${scene.org} and role = 'editor')
    where org_id = ${scene.org} and score = 2`;
  const { html } = await getPage({ ...scene, cookie }, '');
  const many = Number(/(\d+) detractors unassigned/.exec(html)?.[1]);
  const [, href] = /href="([^"]*owner=none[^"]*)"/.exec(html) ?? [];
  const counted = await db`
    select id from responses
    where org_id = ${scene.org} and held_reason is null and category = 'detractor' and owner_id is null
      and created_at > now() - interval '29 days'`;
  assert.ok(many >= counted.length && counted.length > 0, `${many} of ${counted.length}`);
  assert.equal(await totalOf(scene, href!.replaceAll('&amp;', '&')), many);
});

test('the sidebar counts open detractors up to 99, and failing webhooks', async () => {
  const scene = await makeScene();
  const survey = await makeSurvey(db, scene.org);
  const countsIn = ({ html }: { html: string }) =>
    [
      ...html.matchAll(/class="count(?: alarm)?" title="([^"]*)">(?:<[^>]*>, <\/span>)?([\d+]+)/g),
    ].map(([, things, number]) => `${number} ${things}`);
  assert.deepEqual(countsIn(await getPage(scene, '/people')), []);
  const detractors = (many: number, age: string) => db`
    insert into responses (org_id, survey_id, source, score, category, created_at)
    select ${scene.org}, ${survey}, 'share', 1, 'detractor', now() - ${age}::interval
    from generate_series(1, ${many}::int)`;
  await detractors(2, '29 days');
  await detractors(1, '31 days');
  await db`
    insert into responses (org_id, survey_id, source, score, category, chosen_state, held_reason)
    values (${scene.org}, ${survey}, 'share', 1, 'detractor', 'done', null),
           (${scene.org}, ${survey}, 'share', 1, 'detractor', null, 'hidden_link'),
           (${scene.org}, ${survey}, 'share', 10, 'promoter', 'open', null)`;
  await db`
    insert into webhooks (org_id, url, events, secret, active, failure_count, deactivated_reason)
    values (${scene.org}, 'https://a.test', '{response.received}', '\\x00', true, 1, null),
           (${scene.org}, 'https://b.test', '{response.received}', '\\x00', true, 0, null),
           (${scene.org}, 'https://c.test', '{response.received}', '\\x00', false, 0, ${offManually})`;
  assert.deepEqual(countsIn(await getPage(scene, '/people')), [
    '2 open detractors of the last 30 days',
    '1 failing webhook',
  ]);
  await detractors(98, '1 day');
  assert.match(countsIn(await getPage(scene, '/people'))[0] ?? '', /^99\+ /);
});

test('Home shows first steps, without buttons that a viewer may not press', async () => {
  const scene = await makeScene();
  const { html, status } = await getPage(scene, '');
  assert.equal(status, 200);
  assert.match(html, /No responses yet/);
  assert.doesNotMatch(html, /New survey|Mail settings/);
  const owner = await signIn(db, { org: scene.org, role: 'owner' });
  const steps = (await getPage({ ...scene, cookie: owner }, '')).html;
  assert.match(steps, /Get your first response in four steps/);
  assert.match(steps, /New survey/);
});

test('invalid days are reported on the field and show the default period', async () => {
  const scene = await makeScene();
  await fill(scene, 'nps');
  const { html, status } = await getPage(scene, `?date_from=${day(1)}&date_to=${day(5)}`);
  assert.equal(status, 422);
  assert.match(html, /The end is before the start/);
  assert.match(html, /class="gauge"/);
});
