import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPropertyValues } from '../../src/home/comparison.ts';
import { findTrendFigures, listNewestComments } from '../../src/home/figures.ts';
import { json } from '../../src/lib/db/db.ts';
import { mergeQuestions } from '../../src/questions/definition.ts';
import { everything } from '../../src/responses/filter.queries.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

/** Two days in a zone whose midnight is 07:00 UTC. */
const days = { from: '2026-05-03', to: '2026-05-04', timeZone: 'America/Los_Angeles' };
const begin = '2026-05-03T07:00:00.000000Z';
const lastMoment = '2026-05-05T06:59:59.999999Z';

type Given = {
  at: string;
  value?: string;
  comment?: string;
  key?: string;
  held?: boolean;
  isLow?: boolean;
};

/** An organization with these responses, and another one with the same responses but other values. */
async function scene(given: readonly Given[]) {
  const make = async (suffix: string) => {
    const org_id = await makeOrganization(db);
    const survey_id = await makeSurvey(db, org_id);
    await makeSurvey(db, org_id, { name: 'Another' });
    for (const { at, value = '', comment, key = 'plan', held, isLow } of given) {
      await db`
        insert into responses (org_id, survey_id, source, score, category, created_at, comment, held_reason, properties)
        values (${org_id}, ${survey_id}, 'share', ${isLow ? 1 : 10}, ${isLow ? 'detractor' : 'promoter'}, ${at}::text::timestamptz,
                ${comment ? `${comment}${suffix}` : null}, ${held ? 'hidden_field' : null},
                ${json(db, { [key]: value && `${value}${suffix}` })})`;
    }
    return org_id;
  };
  await make(' of others');
  return await make('');
}

const valuesOf = async (org: string) =>
  (await findPropertyValues(db, org, { scope: everything, days })).map(
    ({ name, value }) => `${name}=${value}`,
  );

test('compared values include local days to their exact ends', async () => {
  const org = await scene([
    { at: '2026-05-03T06:59:59.999999Z', value: 'before' },
    { at: begin, value: 'first' },
    { at: lastMoment, value: 'last' },
    { at: '2026-05-05T07:00:00Z', value: 'after' },
    { at: begin, value: 'held', held: true },
  ]);
  assert.deepEqual(await valuesOf(org), ['plan=first', 'plan=last']);
});

for (const property of [undefined, 'plan']) {
  test(`Home shows the newest comments of each kind${property ? ' for a property' : ''}`, async () => {
    const one = { value: 'pro', comment: 'same moment', isLow: true };
    const org = await scene([
      { at: '2026-05-03T06:59:59.999999Z', value: 'pro', comment: 'before' },
      ...Array.from({ length: 9 }, () => ({ ...one, at: '2026-05-03T12:00:00Z' })),
      { at: lastMoment, value: 'pro', comment: 'last' },
      { at: begin, value: 'pro', comment: 'first' },
      { at: '2026-05-04T12:00:00Z', value: 'pro', comment: 'held', held: true },
      { at: '2026-05-04T12:00:00Z', value: 'pro' },
      { at: '2026-05-05T07:00:00Z', value: 'pro', comment: 'after' },
    ]);
    const facets = property ? [{ kind: 'property', name: property, value: 'pro' } as const] : [];
    const scope = { ...everything, facets };
    const comments = await listNewestComments(db, org, { scope, days });
    const ids = await db<{ id: string }[]>`
      select id from responses where org_id = ${org} and comment = 'same moment' order by id desc limit 2`;
    assert.deepEqual([comments[0]!.comment, comments.at(-1)!.comment], ['last', 'first']);
    assert.deepEqual(
      comments.slice(1, -1).map(({ id }) => id),
      ids.map(({ id }) => id),
    );
  });
}

for (const property of [undefined, 'plan']) {
  test(`Home shows text answers with comments${property ? ' for a property' : ''}`, async () => {
    const org = await scene([
      { at: begin, value: 'pro', comment: 'Slow' },
      { at: lastMoment, value: 'pro' },
      { at: lastMoment, value: 'free', isLow: true },
    ]);
    const asked = ['What else?', 'Where?'].map((text) => ({ kind: 'text' as const, text }));
    const [first, second] = mergeQuestions([], asked, new Set());
    // Postgres sorts the keys of an object: q_a before q_b.
    const questions = [
      { ...first, id: 'q_b' },
      { ...second, id: 'q_a' },
    ];
    await db`
      update surveys set questions = ${json(db, questions)} where org_id = ${org} and name <> 'Another'`;
    await db`
      insert into response_answers (org_id, response_id, answers)
      select org_id, id, jsonb_build_object('q_b', jsonb_build_object('text', concat('Of ', properties ->> 'plan')), 'q_a', '{"text": "Here"}'::jsonb)
      from responses where org_id = ${org} and properties ->> 'plan' in ('pro', 'free')`;
    const facets = property ? [{ kind: 'property', name: property, value: 'pro' } as const] : [];
    const comments = await listNewestComments(db, org, {
      scope: { ...everything, facets },
      days,
    });
    assert.deepEqual(comments.map(({ comment }) => comment).sort(), [
      ...(property ? [] : ['Of free · Here']),
      'Of pro · Here',
      'Slow · Of pro · Here',
    ]);
  });
}

/** Two days each. The previous period ends where this one begins. */
const before = { from: '2026-05-01', to: '2026-05-02', timeZone: days.timeZone };
const beginOfBefore = '2026-05-01T07:00:00.000000Z';
const spread = { variance: 8, variance_before: 2, score_sums: [4, 8] };

for (const property of [undefined, 'plan']) {
  test(`each period has the variance of its own scores${property ? ' for a property' : ''}`, async () => {
    const org = await makeOrganization(db);
    const survey_id = await makeSurvey(db, org, { type: 'ces' });
    const scores = [
      ['2026-05-01T06:59:59.999999Z', 7],
      [beginOfBefore, 1] as const,
      ['2026-05-03T06:59:59.999999Z', 3] as const,
      [begin, 2] as const,
      [lastMoment, 6] as const,
      ['2026-05-05T07:00:00Z', 7],
    ] as const;
    for (const [at, score] of scores)
      await db`
        insert into responses (org_id, survey_id, source, score, category, created_at, properties)
        values (${org}, ${survey_id}, 'share', ${score}, 'passive', ${at}::text::timestamptz, '{"plan": "pro"}')`;
    const { trend, variance, variance_before } = await findTrendFigures(db, org, {
      scope: {
        ...everything,
        type: 'ces',
        facets: property ? [{ kind: 'property', name: property, value: 'pro' }] : [],
      },
      days,
      before,
      isMean: true,
      rows: {
        timeZone: days.timeZone,
        from: null,
        to: null,
        starts: [before.from, days.from],
        edges: [before.from, days.from, '2026-05-05'],
      },
    });
    const score_sums = trend.map(({ score_sum }) => score_sum);
    assert.deepEqual({ variance, variance_before, score_sums }, spread);
  });
}

test('counts contacts on the local day of their first mail', async () => {
  const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
  const [survey, second] = [await makeSurvey(db, org), await makeSurvey(db, org)];
  const ofOther = await makeSurvey(db, other);
  const mailed = [
    [org, survey, '2026-05-03T06:45:00Z', 1_000, 100, 10] as const,
    [org, survey, begin, 500, 50, 5] as const,
    [org, second, begin, 300, 30, 3] as const,
    [org, survey, '2026-05-05T06:45:00Z', 70, 7, 1] as const,
    [org, survey, '2026-05-05T07:00:00Z', 2_000, 200, 20] as const,
    [other, ofOther, begin, 9_000, 900, 90] as const,
  ];
  for (const [org_id, survey_id, quarter, asked, undelivered, answered] of mailed)
    await db`
      insert into asked_tallies ${db({ org_id, survey_id, quarter, slot: 0, asked, undelivered, answered })}`;
  const rows = { timeZone: days.timeZone, starts: [days.from], edges: [days.from, '2026-05-05'] };
  const counted = (survey_id: string | null) =>
    findTrendFigures(db, org, {
      scope: { ...everything, survey_id },
      days,
      before: { ...days, from: '2026-05-02', to: '2026-05-02' },
      rows: { ...rows, from: null, to: null },
      isMean: false,
    });
  const all = await counted(null);
  assert.partialDeepStrictEqual(all.asked, { asked: 870, arrived: 783, answered: 9 });
  assert.partialDeepStrictEqual(all.asked_before, { asked: 1_000, arrived: 900, answered: 10 });
  const { asked } = await counted(survey);
  assert.partialDeepStrictEqual(asked, { asked: 570, arrived: 513, answered: 6 });
});

test('an email is settled when people had 7 days to respond', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  for (const [age, asked] of [
    ['1 hour', 1],
    ['167 hours', 20],
    ['169 hours', 300],
  ] as const)
    await db`
      insert into asked_tallies (org_id, survey_id, quarter, slot, asked, answered)
      values (${org_id}, ${survey_id}, now() - ${age}::text::interval, 0, ${asked}, ${asked})`;
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const of = { from: day(10), to: day(-1), timeZone: 'UTC' };
  const { asked } = await findTrendFigures(db, org_id, {
    scope: { ...everything, survey_id },
    days: of,
    before: of,
    rows: { timeZone: 'UTC', starts: [of.from], edges: [of.from, of.to], from: null, to: null },
    isMean: false,
  });
  assert.partialDeepStrictEqual(asked, { asked: 321, settled: { asked: 300, answered: 300 } });
});
