import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  const survey_id = await makeSurvey(db, id);
  const of = { org_id: id, survey_id };
  const answer = (over: Record<string, unknown> = {}) => makeResponse(db, of, over);
  /** Inserts the time as text, because the driver would cut its microseconds. */
  const answerAt = async (time: string, over: Record<string, unknown> = {}) => {
    const response = await answer(over);
    await db`update responses set created_at = ${time}::text::timestamptz where id = ${response}`;
    return response;
  };
  return { id, of, answer, answerAt, ...reader(app, read) };
}

test('a response has its documented fields, in the list and alone', async () => {
  const org = await client();
  const contact_id = await makeContact(db, org.of, { email: 'Ann@people.test', name: 'Ann' });
  const id = await org.answerAt('2024-05-01T09:30:15.123456Z', {
    contact_id,
    score: 3,
    category: 'detractor',
    comment: 'Too "slow"\n',
  });
  await db`insert into analyses ${db({
    org_id: org.id,
    response_id: id,
    sentiment: 'negative',
    themes: ['speed', 'price'],
    churn_risk: 'high',
    summary: 'It is slow.',
    provider: 'test',
  })}`;

  const expected = {
    id,
    survey_id: org.of.survey_id,
    score: 3,
    category: 'detractor',
    comment: 'Too "slow"\n',
    ai_sentiment: 'negative',
    ai_themes: ['speed', 'price'],
    ai_churn_risk: 'high',
    ai_summary: 'It is slow.',
    held: false,
    created_at: '2024-05-01T09:30:15.123Z',
    contact_email: 'Ann@people.test',
    contact_name: 'Ann',
    round: 1,
    survey_name: 'Onboarding',
    survey_type: 'nps',
    language: null,
    properties: {},
    tags: [],
    answers: [],
    state: 'open',
    owner: null,
  };
  assert.deepEqual((await org.list('/api/v1/responses')).data, [expected]);
  assert.deepEqual(await org.json(`/api/v1/responses/${id}`), {
    data: { ...expected, notes: [], replies: [] },
  });
});

test('an anonymous response without analysis has nulls and no themes', async () => {
  const org = await client();
  const id = await org.answer();
  const { data } = await org.json<{ data: Record<string, unknown> }>(`/api/v1/responses/${id}`);
  const { contact_email, contact_name, comment, ai_sentiment, ai_churn_risk, ai_summary } = data;
  const nulls = [contact_email, contact_name, comment, ai_sentiment, ai_churn_risk, ai_summary];
  assert.deepEqual(nulls, [null, null, null, null, null, null]);
  assert.deepEqual(data['ai_themes'], []);
});

test('newer responses do not move a cursor', async () => {
  const org = await client();
  const ids = [];
  for (const day of ['01', '02', '03'])
    ids.push(await org.answer({ created_at: `2024-05-${day}` }));
  const { meta } = await org.list('/api/v1/responses?limit=1');
  await org.answer({ created_at: '2024-05-04' });

  const next = await org.list(`/api/v1/responses?limit=2&cursor=${meta.next_cursor}`);

  assert.deepEqual(
    next.data.map(({ id }) => id),
    [ids[1], ids[0]],
  );
  assert.equal(next.meta.next_cursor, null);
});

test('search finds any part of comment, address and name in any case', async () => {
  const org = await client();
  const person = (email: string, name: string | null) => makeContact(db, org.of, { email, name });
  const commented = await org.answer({ comment: 'The QUICK brown Füchse' });
  const named = await org.answer({ contact_id: await person('x1@people.test', 'Zoë Quickly') });
  const mailed = await org.answer({ contact_id: await person('Quick.One@b.test', null) });
  const both = await org.answer({
    contact_id: await person('quick@c.test', 'Quick'),
    comment: 'quick',
  });
  const found = async (search: string) => {
    const query = `/api/v1/responses?search=${encodeURIComponent(search)}`;
    const { data, meta } = await org.list(query);
    assert.equal(meta.total, data.length, search);
    return data.map(({ id }) => id).sort();
  };

  assert.deepEqual(await found('quick'), [commented, named, mailed, both].sort());
  assert.deepEqual(await found('k b'), [commented]);
  assert.deepEqual(await found('FÜCHS'), [commented]);
  assert.deepEqual(await found('k.o'), [mailed]);
  assert.deepEqual(await found('ZOË'), [named]);
  assert.deepEqual(await found('test zo'), [], 'address and name are two fields');
  assert.deepEqual(await found(''), [commented, named, mailed, both].sort());
});

test('search takes %, _ and \\ literally', async () => {
  const org = await client();
  const percent = await org.answer({ comment: '100% sure' });
  const underscore = await org.answer({ comment: 'snake_case' });
  const backslash = await org.answer({ comment: 'C:\\temp' });
  await org.answer({ comment: '1000 snakes case' });
  const found = (search: string) =>
    org.ids(`/api/v1/responses?search=${encodeURIComponent(search)}`);

  assert.deepEqual(await found('0%'), [percent]);
  assert.deepEqual(await found('%'), [percent]);
  assert.deepEqual(await found('e_c'), [underscore]);
  assert.deepEqual(await found(':\\t'), [backslash]);
  assert.deepEqual(await found('\\'), [backslash]);
});

test('responses on hold are listed only with held=true', async () => {
  const org = await client();
  const held = await org.answer({ held_reason: 'two scores opened', comment: 'needle' });
  const counted = await org.answer({ comment: 'needle' });

  const { data } = await org.json<{ data: { held: boolean } }>(`/api/v1/responses/${held}`);
  assert.equal(data.held, true);
  const listed: [query: string, id: string][] = [
    ['', counted],
    ['held=false', counted],
    ['held=true', held],
    ['search=needle', counted],
    ['search=needle&held=true', held],
    ['category=promoter', counted],
  ];
  for (const [query, id] of listed) {
    const answer = await org.list(`/api/v1/responses?${query}`);
    assert.deepEqual(
      answer.data.map((item) => item.id),
      [id],
      query,
    );
    assert.equal(answer.meta.total, 1, query);
  }
});

test("another organization's responses match no filter", async () => {
  const [mine, theirs] = [await client(), await client()];
  const contact_id = await makeContact(db, theirs.of, { email: 'needle@people.test' });
  const created_at = '2024-05-01T10:00:00Z';
  const id = await theirs.answer({ contact_id, comment: 'needle', created_at });
  const survey = theirs.of.survey_id;
  await theirs.answer({ held_reason: 'trap', created_at });
  await theirs.answer({ created_at: '2024-05-02' });
  const { meta } = await theirs.list('/api/v1/responses?limit=1');

  assert.equal(await mine.status(`/api/v1/responses/${id}`), 404);
  for (const query of [
    '',
    `survey_id=${survey}`,
    `survey_id=${survey}&date_from=2024-05-01T09:00:00Z&date_to=2024-05-01T11:00:00Z`,
    `survey_id=${survey}&category=promoter&date_from=2024-05-01`,
    'search=needle',
    'held=true',
    `held=true&survey_id=${survey}`,
    'date_from=2024-01-01',
    `page=600&limit=1&survey_id=${survey}`,
    `cursor=${meta.next_cursor}`,
  ]) {
    const answer = await mine.list(`/api/v1/responses?${query}`);
    assert.deepEqual([answer.data, answer.meta.total], [[], 0], query);
  }
});

for (const query of [
  'category=happy',
  'category=',
  'survey_id=x',
  'survey_id=',
  'date_from=yesterday',
  'date_to=2024-02-30',
  'date_to=',
  'held=yes',
  `search=${'x'.repeat(501)}`,
  'search=%00',
]) {
  test(`?${query.slice(0, 30)} is refused`, async () => {
    const org = await client();
    assert.equal(await org.status(`/api/v1/responses?${query}`), 400);
  });
}
