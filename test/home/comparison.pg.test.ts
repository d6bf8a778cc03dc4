import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Interval } from '../../src/intervals.ts';
import { formatInterval, formatValue } from '../../src/survey-types.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

const zone = 'America/Los_Angeles';
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/**
 * Responses over half a year by contacts of two plans and three countries. Some are on hold, and every third has a
 * comment.
 */
async function scene(type: 'nps' | 'star5') {
  const { id: org, read } = await makeClient(db, { time_zone: zone });
  const survey = await makeSurvey(db, org, { type });
  const lowest = type === 'nps' ? 0 : 1;
  const highest = type === 'nps' ? 10 : 5;
  await db`
    with people as (
      insert into contacts (org_id, survey_id, email, token, properties)
      select ${org}, ${survey}, 'p' || n || '@people.test', gen_random_uuid(),
             jsonb_build_object('plan', (array['pro', 'free'])[1 + n % 2], 'country', (array['de', 'fr', 'pt'])[1 + n % 3])
      from generate_series(1, 300) n
      returning id, email
    )
    insert into responses (org_id, survey_id, contact_id, source, score, category, held_reason, comment, created_at)
    select ${org}, ${survey}, id, 'link', score,
           case when score > ${highest * 0.8}::float8 then 'promoter'
                when score > ${highest * 0.6}::float8 then 'passive' else 'detractor' end,
           case when n % 11 = 0 then 'hidden_field' end, case when n % 3 = 0 then 'comment ' || n end,
           now() - n * interval '5 hours 13 minutes'
    from (
      select id, n, ${lowest} + (n * 7 + n / 13) % ${highest - lowest + 1} as score
      from people, lateral (select substring(email from '[0-9]+')::int as n) number
    ) given`;
  const browser = await memberBrowser(db, { app, org, role: 'viewer' });
  return { org, survey, ...browser, api: reader(app, read) };
}

type Commented = { category: string; comment: string };

type Rollup = Record<'promoters' | 'passives' | 'detractors' | 'promoter_pct' | 'total', number> & {
  nps: number | null;
  interval: Interval | null;
};

const shared = await scene('nps');
const days = `date_from=${day(100)}&date_to=${day(4)}`;

/** Cells of the tables on a page, by the head of their row. */
const rowsOf = (html: string) =>
  new Map(
    [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) => {
      const cells = [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) =>
        cell!.replace(/<[^>]*>/g, '').trim(),
      );
      return [cells[0] ?? '', cells.slice(1)];
    }),
  );

const shownScore = (nps: number | null) => (nps === null ? '–' : formatValue('nps', nps));
const shownInterval = (interval: Interval | null) =>
  interval === null ? '–' : formatInterval('nps', interval);

test('Home filtered by a property shows the numbers of the API', async () => {
  const { home, get, api } = shared;
  for (const [property, by] of [
    ['property.plan=pro', 'by week'],
    ['property.plan=free&property.country=de', 'of the last 30 days'],
  ] as const) {
    const query = `type=nps&${days}&${property}`;
    const html = await (await get(`${home}?${query}`)).text();
    const { data } = await api.json<{ data: Rollup }>(`/api/v1/nps?${query}&tz=${zone}`);
    assert.ok(data.total > 0);
    assert.ok(html.includes(`Net Promoter Score ${shownScore(data.nps)}, `), property);
    assert.ok(html.includes(shownInterval(data.interval)), property);
    assert.ok(html.includes(`All ${data.total} responses`), property);
    assert.ok(html.includes(`Net Promoter Score ${by}. `), property);
    const trend = await api.json<{ data: Rollup[] }>(
      `/api/v1/nps/trend?${query}&interval=week&tz=${zone}`,
    );
    const steps = [...rowsOf(html).values()].filter(
      (cells) => cells.length === 6 && cells[5] !== 'Responses',
    );
    assert.deepEqual(
      by === 'by week' && steps.map((cells) => Number(cells[5])).toReversed(),
      by === 'by week' && trend.data.map(({ total }) => total),
      property,
    );
    const [, link] = /href="([^"]+)">All \d+ responses/.exec(html) ?? [];
    const inbox = await (await get(link!.replaceAll('&amp;', '&'))).text();
    assert.ok(inbox.includes(`<h2>${data.total} response`), `${link}`);
    const { data: comments } = await api.json<{ data: Commented[] }>(
      `/api/v1/responses?${query}&tz=${zone}&has_comment=true&limit=100`,
    );
    const said = [...html.matchAll(/<p class="clamp" dir="auto">([^<]*)</g)].map(
      ([, text]) => text,
    );
    const kinds = Object.values(Object.groupBy(comments, ({ category }) => category));
    const newest = kinds.flatMap((kind) => kind!.slice(0, 2));
    assert.deepEqual(
      said,
      comments.filter((each) => newest.includes(each)).map(({ comment }) => comment),
      'the two newest of each kind',
    );
    assert.doesNotMatch(html, /Response rate/);
  }
});

test('compared values show the numbers of the API', async () => {
  const { home, get, api } = shared;
  const html = await (await get(`${home}?type=nps&${days}&compare=country`)).text();
  const rows = rowsOf(html);
  for (const country of ['de', 'fr', 'pt']) {
    const query = `type=nps&${days}&tz=${zone}&property.country=${country}`;
    const { data } = await api.json<{ data: Rollup }>(`/api/v1/nps?${query}`);
    const [score, sure, promoters, , total] = rows.get(country) ?? [];
    assert.deepEqual(
      [score, sure, promoters, total],
      [
        shownScore(data.nps),
        shownInterval(data.interval),
        `${data.promoter_pct}%`,
        String(data.total),
      ],
      country,
    );
  }
  assert.match(html, /compare=plan#compare/);
  const within = await (await get(`${home}?${days}&property.plan=pro&compare=country`)).text();
  const { data } = await api.json<{ data: Rollup }>(
    `/api/v1/nps?type=nps&${days}&tz=${zone}&property.country=de&property.plan=pro`,
  );
  assert.equal(rowsOf(within).get('de')?.[4], String(data.total));
  assert.doesNotMatch(within, /compare=plan#compare/);
});

test('Home loads themes and compared values after the page', async () => {
  const { home, get, request } = shared;
  const path = `${home}?${days}`;
  const [, later] = /id="reasons" hx-get="([^"]+)"/.exec(await (await get(path)).text()) ?? [];
  const part = await request(later!.replaceAll('&amp;', '&'), {
    headers: { 'HX-Target': 'div#reasons' },
  });
  const html = await part.text();
  assert.match(html, /<summary class="button quiet mini"><span>By <bdi>(country|plan)</);
  assert.match(html, /class="ranges"/);
  assert.doesNotMatch(html, /class="gauge"/);
});
