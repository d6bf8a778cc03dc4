import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surveyTypes, typeFacts } from '../../src/survey-types.ts';
import { ask, asPerson, asProgram, complaintOf, headingOf, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { get, head, post, postJson } = visitor(db);

/** Counts the rows that an answer adds or changes and that opening the page does not. */
async function counted(survey: string) {
  const [state] = await db`
    select s.status, s.updated_at, c.status as contact, c.responded_at,
           (select count(*)::int from responses where survey_id = s.id) as responses,
           (select count(*)::int from deliveries where org_id = s.org_id) as deliveries,
           (select coalesce(sum(responded + promoters + passives + detractors), 0)::int
            from survey_tallies where survey_id = s.id) as tallied
    from surveys s join contacts c on c.survey_id = s.id
    where s.id = ${survey}`;
  return { ...state };
}

test('opening a link only records a visit', async () => {
  const { survey, contact, personal, shared } = await ask(db);
  const before = await counted(survey);
  for (const link of [personal, `${personal}?score=9`, shared, `${shared}?score=9`]) {
    for (const open of [get, head]) assert.equal((await open(link)).status, 200, link);
  }
  assert.deepEqual(await counted(survey), before);
  const openings = await db`
    select kind, method, score from link_visits where contact_id = ${contact} order by visited_at`;
  assert.deepEqual(
    openings.map((opening) => Object.values(opening)),
    [
      ['view', 'GET', null],
      ['view', 'HEAD', null],
      ['view', 'GET', 9],
      ['view', 'HEAD', 9],
    ],
  );
});

for (const type of surveyTypes) {
  const { lowest, highest } = typeFacts(type);

  test(`${type} accepts ${lowest} and ${highest}, from a form and as JSON`, async () => {
    for (const score of [lowest, highest]) {
      const [byForm, byJson] = [await ask(db, { type }), await ask(db, { type })];
      const page = await post(byForm.personal, { score: `${score}` });
      assert.deepEqual([page.status, headingOf(await page.text())], [200, 'Thank you!']);
      assert.equal((await postJson(byJson.personal, { score })).status, 201);
      for (const { answers } of [byForm, byJson]) {
        assert.deepEqual(
          (await answers()).map((answer) => [answer.score, answer.held_reason]),
          [[score, null]],
        );
      }
    }
  });

  test(`${type} rejects ${lowest - 1} and ${highest + 1}, and keeps the comment`, async () => {
    for (const score of [lowest - 1, highest + 1]) {
      const { personal, answers } = await ask(db, { type });
      const page = await post(personal, { score: `${score}`, comment: 'Kind <people>' });
      const html = await page.text();
      assert.deepEqual([page.status, complaintOf(html)], [400, 'Please choose a score first.']);
      assert.match(html, /Kind &lt;people&gt;<\/textarea>/);
      assert.doesNotMatch(html, / checked/);

      const refused = await postJson(personal, { score });
      const { code } = (await refused.json()) as { code: string };
      assert.deepEqual([refused.status, code], [400, 'score_invalid']);
      assert.deepEqual(await answers(), []);
    }
  });

  test(`${type} ignores a link's score outside its scale`, async () => {
    const { personal } = await ask(db, { type });
    const offered = await (await get(`${personal}?score=${highest}`)).text();
    assert.match(offered, new RegExp(`value="${highest}"[^>]* checked`));
    assert.match(offered, /Your score is chosen/);
    for (const score of [highest + 1, lowest - 1, 99, 'x', '', '1e0']) {
      const html = await (await get(`${personal}?score=${score}`)).text();
      assert.doesNotMatch(html, / checked|Your score is chosen/, String(score));
    }
  });
}

test('a comment has at most 5000 characters, and a longer one comes back', async () => {
  const { personal, answers } = await ask(db);
  const longest = `${'𝄞'.repeat(4998)}\r\n.`;
  const page = await post(personal, { score: '3', comment: `${longest}!` });
  const html = await page.text();
  assert.deepEqual(
    [page.status, complaintOf(html)],
    [400, 'Please shorten your comment to 5000 characters.'],
  );
  assert.match(html, /value="3"[^>]* checked/);
  assert.ok(html.includes('𝄞\r\n.!</textarea>'));
  const refused = await postJson(personal, { score: 3, comment: 'x'.repeat(5001) });
  assert.equal(((await refused.json()) as { code: string }).code, 'comment_too_long');

  assert.equal((await post(personal, { score: '3', comment: longest })).status, 200);
  assert.deepEqual(
    (await answers()).map(({ comment }) => comment),
    [longest.replace('\r', '')],
  );
});

test('a comment of spaces is empty', async () => {
  const { personal, answers } = await ask(db);
  await post(personal, { score: '9', comment: ' \r\n ' });
  assert.equal((await answers())[0]?.comment, null);
});

test('programs get 201 with JSON, by Content-Type or Accept', async () => {
  const [one, other] = [await ask(db), await ask(db)];
  const byJson = await postJson(one.personal, { score: 7, comment: 'ok' });
  const byAccept = await post(other.personal, { score: '7' }, asProgram);
  for (const [answer, { answers }] of [
    [byJson, one],
    [byAccept, other],
  ] as const) {
    const [{ id } = { id: '' }] = await answers();
    assert.equal(answer.status, 201);
    assert.deepEqual(await answer.json(), { data: { id, score: 7 } });
  }
});

test('a second answer returns 409 with the first answer, or JSON', async () => {
  const { personal, answers } = await ask(db);
  await post(personal, { score: '9', comment: 'Lovely' });

  const page = await post(personal, { score: '0', comment: 'Awful' });
  const html = await page.text();
  assert.deepEqual([page.status, headingOf(html)], [409, 'You have already answered']);
  assert.match(html, /9 out of 10.*Lovely/);
  assert.doesNotMatch(html, /Awful/);
  const refused = await postJson(personal, { score: 0 });
  const { code } = (await refused.json()) as { code: string };
  assert.deepEqual([refused.status, code], [409, 'already_answered']);
  assert.equal((await answers()).length, 1);
});

test('one of sixteen concurrent answers is recorded', async () => {
  const { personal, answers, events } = await ask(db);
  const scores = Array.from({ length: 16 }, () => '10');
  const pages = await Promise.all(scores.map((score) => post(personal, { score })));

  const shown = await Promise.all(
    pages.map(async (page) => `${page.status} ${headingOf(await page.text())}`),
  );
  assert.equal((await answers()).length, 1);
  assert.deepEqual(shown.toSorted(), [
    '200 Thank you!',
    ...Array.from({ length: 15 }, () => '409 You have already answered'),
  ]);
  assert.deepEqual(await events(), ['response.received', 'survey.completed']);
});

for (const [why, survey, heading, code] of [
  [
    'closed by hand',
    { status: 'completed', completed_by: 'hand', completed_at: new Date() },
    'This survey is closed',
    'survey_closed',
  ],
  ['a draft', { status: 'draft' }, 'This survey is not open yet', 'survey_draft'],
] as const) {
  test(`a survey that is ${why} says so and records nothing`, async () => {
    const { personal, shared, answers } = await ask(db, survey);
    for (const link of [personal, shared]) {
      const shown = await get(link);
      assert.deepEqual([shown.status, headingOf(await shown.text())], [200, heading]);
      const page = await post(link, { score: '9' });
      assert.deepEqual([page.status, headingOf(await page.text())], [400, heading]);
      const refused = await postJson(link, { score: 9 });
      assert.equal(refused.status, 400);
      assert.equal(((await refused.json()) as { code: string }).code, code);
    }
    assert.deepEqual(await answers(), []);
  });
}

test('a link answers only for its own contact and survey', async () => {
  const [mine, theirs] = [await ask(db), await ask(db)];
  await post(mine.personal, { score: '9' });
  assert.equal((await mine.answers()).length, 1);
  assert.deepEqual([await theirs.answers(), await theirs.events()], [[], []]);
  assert.equal(
    headingOf(await (await get(theirs.personal)).text()),
    'How likely are you to recommend us?',
  );
});

test('a page has no script, is not indexed or cached, and is under 15 KB', async () => {
  const { personal, shared } = await ask(db);
  const pages = [
    await get(personal),
    await get(shared),
    await post(personal, { score: '9' }),
    await get('/s/none'),
  ];
  for (const page of pages) {
    const { headers } = page;
    assert.match(
      headers.get('Content-Security-Policy') ?? '',
      /^default-src 'none'; style-src 'sha256-/,
    );
    assert.equal(headers.get('Referrer-Policy'), 'no-referrer');
    assert.equal(headers.get('X-Robots-Tag'), 'noindex, nofollow');
    assert.equal(headers.get('Cache-Control'), 'no-store');
    assert.equal(headers.get('Set-Cookie'), null);
    assert.ok((await page.arrayBuffer()).byteLength < 15_000);
  }
});

test('a page is in the language of its survey', async () => {
  const { personal } = await ask(db, { language: 'ar' });
  const html = await (await get(personal, { ...asPerson, 'Accept-Language': 'de' })).text();
  assert.match(html, /^<!doctype html><html lang="ar" dir="rtl">/);
});
