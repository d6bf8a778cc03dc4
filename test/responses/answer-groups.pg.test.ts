import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { connect, json, type Sql } from '../../src/lib/db/db.ts';
import {
  type NewResponse,
  type ResponseEffects,
  recordAnswers,
} from '../../src/responses/answer.queries.ts';
import { createAnswerRecorder } from '../../src/responses/answer.ts';
import { subscriber } from '../support/fakes/subscriber.ts';
import { makePool, workerOf } from '../support/make/deliveries.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db, url } = await testDatabase();
const record = createAnswerRecorder(db);

type Survey = { orgId: string; surveyId: string; people: string[]; webhook: string };

/** A survey in its own organization, with a webhook for all events. */
async function survey({ contacts = 5 } = {}): Promise<Survey> {
  const orgId = await makeOrganization(db, { ai_enabled: true });
  const surveyId = await makeSurvey(db, orgId);
  const people: string[] = [];
  for (let n = 0; n < contacts; n++) {
    people.push(await makeContact(db, { org_id: orgId, survey_id: surveyId }));
  }
  return { orgId, surveyId, people, webhook: await makeWebhook(db, orgId) };
}

const responseOf = (
  { orgId, surveyId }: Survey,
  contactId: string | null,
  over: Partial<NewResponse> = {},
): NewResponse => ({
  id: randomUUID(),
  org_id: orgId,
  survey_id: surveyId,
  contact_id: contactId,
  score: 9,
  source: contactId ? 'link' : 'share',
  category: 'promoter',
  comment: null,
  held_reason: null,
  traceparent: null,
  type: 'nps',
  language: 'en',
  properties: null,
  created_at: new Date(),
  ...over,
});

const effectsOf = ({ id, org_id, traceparent, comment }: NewResponse): ResponseEffects => ({
  added: { orgId: org_id, events: [{ type: 'response.received', body: id }], traceparent },
  analyze: comment !== null,
});

const answer = (response: NewResponse) => record({ response, effects: effectsOf(response) });

/** Answers at the same time, which are recorded as a group. */
const answerTogether = (responses: readonly NewResponse[]) => Promise.all(responses.map(answer));

/** The number of transactions that recorded the responses of these surveys. */
async function transactionsOf(...surveys: readonly Survey[]): Promise<number> {
  const [row] = await db<{ transactions: number }[]>`
    select count(distinct xmin::text)::int as transactions
    from responses where survey_id = any (${surveys.map(({ surveyId }) => surveyId)}::uuid[])`;
  return row!.transactions;
}

const responsesOf = ({ surveyId }: Survey) => db<{ id: string; contact_id: string }[]>`
  select id, contact_id from responses where survey_id = ${surveyId} order by contact_id`;

const eventsOf = async ({ webhook }: Survey) =>
  (
    await db<
      { body: string }[]
    >`select body from deliveries where webhook_id = ${webhook} order by body`
  ).map(({ body }) => body);

test('concurrent answers are recorded in one transaction, with their events', async () => {
  const [a, b] = [await survey(), await survey()];
  const given = [a, b].flatMap((s) => s.people.slice(0, 3).map((id) => responseOf(s, id)));
  const recorded = await answerTogether(given);

  assert.deepEqual(
    recorded.map((each) => each?.emitted?.length ?? each?.emitted),
    given.map(() => 1),
  );
  assert.equal(await transactionsOf(a, b), 1);
  for (const s of [a, b]) {
    const ids = given.filter(({ org_id }) => org_id === s.orgId).map(({ id }) => id);
    assert.deepEqual(await eventsOf(s), ids.toSorted());
  }
  await assertTalliesHold(db);
});

test('each delivery of a group carries its own event', async () => {
  const { posts, outbound } = subscriber(200);
  const worker = workerOf(db, outbound, await makePool(db));
  const s = await survey();
  const group = s.people.slice(0, 3).map((person) => {
    const response = responseOf(s, person);
    const events = [
      { type: 'response.received' as const, body: `received ${response.id}` },
      { type: 'survey.completed' as const, body: `completed ${response.id}` },
    ];
    const added = { orgId: s.orgId, events, traceparent: null, owner: worker.owner() };
    return { response, effects: { added, analyze: false } };
  });
  for (const { id, emitted } of await recordAnswers(db, group, 200)) {
    const { effects } = group.find(({ response }) => response.id === id)!;
    worker.start(effects.added, emitted ?? []);
  }
  await worker.stop();
  const wanted = group.flatMap(({ effects }) => effects.added.events.map(({ body }) => body));
  assert.deepEqual(posts.map(({ body }) => body).toSorted(), wanted.toSorted());
  assert.ok(
    posts.every(({ headers, body }) => body.startsWith(headers['X-Service-Event']!.split('.')[1]!)),
  );
});

test('each delivery of a group is claimed by the owner of its answer', async () => {
  const [one, other] = [await survey(), await survey()];
  const owner = randomUUID();
  const group = [
    { s: one, by: owner },
    { s: other, by: null },
  ].map(({ s, by }) => {
    const response = responseOf(s, s.people[0]!);
    const { added, analyze } = effectsOf(response);
    return { response, effects: { added: { ...added, owner: by }, analyze } };
  });
  assert.equal((await recordAnswers(db, group, 200)).length, 2);
  const claimedBy = async ({ webhook }: Survey) =>
    (await db`select claimed_by from pending_deliveries where webhook_id = ${webhook}`)[0]!;
  assert.equal((await claimedBy(one))['claimed_by'], owner);
  assert.equal((await claimedBy(other))['claimed_by'], null);
});

test('a group of more than 50 answers is refused', async () => {
  const s = await survey();
  const groupOf = (size: number) =>
    Array.from({ length: size }, () => {
      const response = responseOf(s, null);
      return { response, effects: effectsOf(response) };
    });
  await assert.rejects(
    db.begin((tx) => recordAnswers(tx, groupOf(51), 0)),
    /too many responses/,
  );
  assert.equal((await db.begin((tx) => recordAnswers(tx, groupOf(50), 0))).length, 50);
  assert.equal((await responsesOf(s)).length, 50);
});

test('an answer that cannot be stored fails alone, with its own error', async () => {
  const s = await survey();
  const bad = responseOf(s, s.people[0]!, { category: 'no category' as never });
  const outcomes = await Promise.allSettled([bad, ...rest(s)].map(answer));

  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
  );
  const [failed] = outcomes as [PromiseRejectedResult];
  assert.equal(failed.reason.constraint_name, 'responses_category_check');
  assert.equal((await responsesOf(s)).length, 3);
  assert.equal((await eventsOf(s)).length, 3);
});

const rest = (s: Survey) => s.people.slice(1, 4).map((id) => responseOf(s, id));

test('a group does not lock contacts of surveys that it skips', async () => {
  const [held, closed, open] = [await survey(), await survey(), await survey()];
  await db`update surveys set status = 'completed', completed_by = 'hand', completed_at = now()
    where id = ${closed.surveyId}`;
  const all = [held, closed, open];
  const group = all.map((s) => {
    const response = responseOf(s, s.people[0]!);
    return { response, effects: effectsOf(response) };
  });
  const contacts = all.map(({ people }) => people[0]!);
  await db.begin(async (other) => {
    await other`select from surveys where id = ${held.surveyId} for update`;
    await db.begin(async (tx) => {
      const recorded = await recordAnswers(tx, group, 0);
      assert.deepEqual(
        recorded.map(({ id }) => id),
        [group[2]!.response.id],
      );
      const free = await other<{ id: string }[]>`
        select id from contacts where id = any (${contacts}::uuid[]) for no key update skip locked`;
      assert.deepEqual(free.map(({ id }) => id).toSorted(), contacts.slice(0, 2).toSorted());
    });
  });
});

test('answers of a group count at their own times, once per contact', async () => {
  const s = await survey({ contacts: 12 });
  for (const [n, id] of s.people.entries()) {
    const sent = ['2026-02-01', '2026-05-01', null][n % 3]!;
    await db`update contacts set sent_at = ${sent}, status = 'sent' where id = ${id}`;
  }
  const last = s.people.at(-1)!;
  await db`update contacts set responded_at = now(), status = 'responded' where id = ${last}`;
  const on = (day: string, ...people: string[]) =>
    people.map((id) => responseOf(s, id, { created_at: new Date(`2026-06-${day}T12:00Z`) }));
  await answerTogether(on('01', ...s.people.slice(0, 2)));
  const both = [...on('01', ...s.people.slice(2, 5)), ...on('02', ...s.people.slice(5, 8), last)];
  const recorded = await answerTogether(both);
  assert.ok(recorded.every((each) => each !== undefined));
  await assertTalliesHold(db);
});

test('an answer whose contact was deleted fails alone', async () => {
  const s = await survey();
  const gone = responseOf(s, randomUUID());
  const [failed, ...others] = await Promise.allSettled([gone, ...rest(s)].map(answer));
  assert.equal(
    (failed as PromiseRejectedResult).reason.constraint_name,
    'responses_belong_to_contact',
  );
  assert.ok(others.every(({ status }) => status === 'fulfilled'));
  assert.equal((await responsesOf(s)).length, 3);
});

type Held = { hold: (tx: Sql, s: Survey) => PromiseLike<unknown>; leavesOut: boolean };

/**
 * Locks of another transaction, and the reaction of the group: it skips the response, or it fails and all responses are
 * recorded singly.
 */
const held: Record<string, Held> = {
  'its survey': {
    hold: (tx, s) => tx`select from surveys where id = ${s.surveyId} for update`,
    leavesOut: true,
  },
  'its contact': {
    hold: (tx, s) => tx`select from contacts where id = ${s.people[0]!} for update`,
    leavesOut: true,
  },
  'a webhook of its organization': {
    hold: (tx, s) => tx`select from webhooks where id = ${s.webhook} for update`,
    leavesOut: false,
  },
};
for (const [what, { hold, leavesOut }] of Object.entries(held)) {
  test(`an answer waiting for ${what} does not delay another organization`, async () => {
    const [s, other] = [await survey(), await survey()];
    let waiting: Promise<unknown> = Promise.resolve();
    await db.begin(async (tx) => {
      await hold(tx, s);
      waiting = answer(responseOf(s, s.people[0]!));
      await answerTogether([...rest(other), responseOf(other, other.people[0]!)]);
      await untilLockWaits(db);
      assert.equal((await responsesOf(s)).length, 0);
      assert.equal((await responsesOf(other)).length, 4);
      assert.equal(await transactionsOf(other), leavesOut ? 1 : 4);
    });
    assert.ok(await waiting);
    assert.equal((await responsesOf(s)).length, 1);
  });
}

test('slow groups do not delay other organizations for long', async () => {
  await db`
    create function wait_for_lock() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin perform pg_advisory_xact_lock(42); return new; end $$`;
  await db`
    create trigger wait_for_lock before insert on responses
    for each row when (new.comment = 'slow') execute function wait_for_lock()`;
  const slow = [await survey(), await survey()];
  const other = await survey();
  const waiting: Promise<unknown>[] = [];
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(42)`;
    for (const [groups, s] of slow.entries()) {
      const two = s.people.slice(0, 2).map((id) => responseOf(s, id, { comment: 'slow' }));
      waiting.push(answerTogether(two));
      await untilLockWaits(db, groups + 1);
    }
    await answerTogether(rest(other));
    assert.equal((await responsesOf(other)).length, 3);
  });
  await Promise.all(waiting);
  for (const s of slow) assert.equal((await responsesOf(s)).length, 2);
});

test('crossing groups of two processes do not deadlock', async () => {
  const surveys = [await survey({ contacts: 40 }), await survey({ contacts: 40 })];
  const second = connect(url, { connections: 8 });
  const ofSecond = createAnswerRecorder(second);
  const given = surveys.flatMap((s) => s.people.map((id) => () => responseOf(s, id)));
  const post = (to: typeof record, make: () => NewResponse) => {
    const response = make();
    return to({ response, effects: effectsOf(response) });
  };
  const outcomes = await Promise.all([
    ...given.map((make) => post(record, make)),
    ...given.toReversed().map((make) => post(ofSecond, make)),
  ]);
  await second.end();

  assert.equal(outcomes.filter((each) => each !== undefined).length, given.length);
  for (const s of surveys) {
    assert.equal((await responsesOf(s)).length, 40);
    const completed = await db`select from deliveries
      where webhook_id = ${s.webhook} and event = 'survey.completed'`;
    assert.equal(completed.length, 1);
  }
  const [database] = await db<{ deadlocks: string }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  assert.equal(Number(database!.deadlocks), 0);
  await assertTalliesHold(db);
});

test('a group writes the same rows as single answers', async () => {
  const written: unknown[] = [];
  for (const together of [false, true]) {
    const s = await survey({ contacts: 8 });
    await db`
      update contacts set sent_at = '2026-03-04 05:06Z', status = 'bounced'
      where id = any (${s.people.slice(0, 2)}::uuid[])`;
    await db`
      update contacts set properties = ${json(db, { plan: 'pro', seats: 3 })} where id = ${s.people[2]!}`;
    const given = varied(s);
    if (together) await answerTogether(given);
    else for (const each of given) await answer(each);
    assert.equal(await transactionsOf(s), together ? 1 : given.length);
    written.push(await everythingOf(s));
  }
  assert.deepEqual(written[1], written[0]);
  await assertTalliesHold(db);
});

const at = new Date('2026-05-06T07:08:09Z');
const traceparent = (n: number) => `00-${'0'.repeat(31)}${n}-${'0'.repeat(15)}${n}-01`;
const varied = (s: Survey): NewResponse[] => [
  responseOf(s, s.people[0]!, {
    created_at: at,
    comment: 'half \ud83d a pair',
    traceparent: traceparent(1),
  }),
  responseOf(s, s.people[1]!, {
    score: 2,
    category: 'detractor',
    comment: 'a "quote" \\',
    traceparent: traceparent(2),
  }),
  responseOf(s, s.people[2]!, { created_at: at, score: 7, category: 'passive', language: 'de' }),
  responseOf(s, s.people[3]!, {
    created_at: at,
    held_reason: 'hidden_link',
    score: 1,
    category: 'detractor',
  }),
  responseOf(s, null, { created_at: at, properties: { page: '/home', visits: 2 } }),
  responseOf(s, null, { created_at: at }),
];

/** All rows that the answers to a survey caused, without ids and times. */
async function everythingOf({ orgId, surveyId }: Survey) {
  const plain = async (rows: PromiseLike<readonly Record<string, unknown>[]>) =>
    (await rows)
      .map((row) => ({ ...row }))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    responses: await plain(db`
      select score, source, category, comment, held_reason, language, properties, state, traceparent,
             contact_id is null as anonymous, created_at = ${at} as then
      from responses where survey_id = ${surveyId}`),
    contacts: await plain(db`
      select status, responded_at = ${at} as then from contacts where survey_id = ${surveyId}`),
    facets: await plain(db`
      select facet, category, score, created_at = ${at} as then from response_facets where survey_id = ${surveyId}`),
    asked: await plain(db`
      select quarter, sum(asked) as asked, sum(undelivered) as undelivered, sum(answered) as answered
      from asked_tallies where survey_id = ${surveyId} group by quarter`),
    analyses: await plain(db`select traceparent from waiting_analyses where org_id = ${orgId}`),
    jobs: await plain(db`
      select payload ->> '_trace' as trace, payload ->> '_caused_at' is not null as caused
      from test.jobs where payload ->> 'org_id' = ${orgId}`),
    deliveries: await plain(db`
      select event, status, traceparent from deliveries where org_id = ${orgId}`),
  };
}
