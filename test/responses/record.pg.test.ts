import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { connect, type Sql } from '../../src/lib/db/db.ts';
import { type NewResponse, recordAnswers } from '../../src/responses/answer.queries.ts';
import { closeSurvey } from '../../src/surveys/lifecycle.ts';
import { answerThrough, linkOf } from '../support/make/answers.ts';
import { makeContact, makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db, url } = await testDatabase();

const responseOf = ({ orgId, surveyId }: Survey, contactId: string): NewResponse => ({
  id: randomUUID(),
  org_id: orgId,
  survey_id: surveyId,
  contact_id: contactId,
  score: 9,
  source: 'link',
  category: 'promoter',
  comment: null,
  held_reason: null,
  traceparent: null,
  type: 'nps',
  language: 'en',
  properties: null,
  created_at: new Date(),
});

/** Answers do not lock a survey with more remaining contacts than this. */
async function mostUncommitted(): Promise<number> {
  const [row] = await db<{ most: number }[]>`select most_uncommitted_responses() as most`;
  return row!.most;
}

/** A survey with contacts, and a webhook for all events. */
async function survey({ contacts = 2 } = {}) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId);
  const of = { org_id: orgId, survey_id: surveyId };
  const people = await Promise.all(Array.from({ length: contacts }, () => makeContact(db, of)));
  const webhook = await makeWebhook(db, orgId);
  return { orgId, surveyId, people, webhook };
}
type Survey = Awaited<ReturnType<typeof survey>>;

type Posted = { score?: number; comment?: string; honeypotHit?: boolean };

const answer = (s: Survey, contactId: string | null, posted: Posted = {}) =>
  answerThrough(db, linkOf({ ...s, contactId }), posted);

const events = async (s: Survey) =>
  (
    await db<{ event: string }[]>`
      select event from deliveries where webhook_id = ${s.webhook} order by event`
  ).map(({ event }) => event);

const statusOf = async (s: Survey) =>
  (await db<{ status: string }[]>`select status from surveys where id = ${s.surveyId}`)[0]?.status;

const answersOf = (s: Survey) => db`
  select score, held_reason from responses where survey_id = ${s.surveyId}`;

test('an answer marks its contact, counts, and emits an event', async () => {
  const s = await survey();
  const recorded = await answer(s, s.people[0]!);

  const [contact] = await db`select status, responded_at from contacts where id = ${s.people[0]!}`;
  assert.equal(contact?.['status'], 'responded');
  const [tally] = await db`select promoters, responded from survey_tallies
    where survey_id = ${s.surveyId} and promoters > 0`;
  assert.deepEqual({ ...tally }, { promoters: 1, responded: 1 });
  const deliveries = await db`select body from deliveries where org_id = ${s.orgId}`;
  assert.deepEqual(
    deliveries.map(({ body }) => JSON.parse(body).responseId),
    [recorded?.id],
  );
});

test('a detractor emits two events', async () => {
  const s = await survey();
  await answer(s, s.people[0]!, { score: 6, comment: 'hm' });
  assert.deepEqual(await events(s), ['detractor.detected', 'response.received']);
});

test('an inactive webhook records the event as skipped', async () => {
  const s = await survey();
  await db`update webhooks set active = false where id = ${s.webhook}`;
  await answer(s, s.people[0]!);

  const [delivery] = await db`select status from deliveries where webhook_id = ${s.webhook}`;
  assert.equal(delivery?.['status'], 'skipped');
});

test('an answer on hold does not count and emits no event', async () => {
  const s = await survey();
  await answer(s, s.people[0]!, { honeypotHit: true });

  const [contact] = await db`select status from contacts where id = ${s.people[0]!}`;
  assert.equal(contact?.['status'], 'pending');
  assert.deepEqual(await events(s), []);
  const tallied = await db`select from survey_tallies
    where survey_id = ${s.surveyId} and promoters + detractors > 0`;
  assert.equal(tallied.length, 0);
});

test('a later answer replaces one on hold', async () => {
  const s = await survey();
  await answer(s, s.people[0]!, { honeypotHit: true, score: 0 });
  assert.ok(await answer(s, s.people[0]!, { score: 10 }));

  assert.deepEqual([...(await answersOf(s))], [{ score: 10, held_reason: null }]);
  assert.deepEqual(await events(s), ['response.received']);
});

test('an answer on hold does not replace one that counts', async () => {
  const s = await survey();
  await answer(s, s.people[0]!, { score: 10 });
  assert.equal(await answer(s, s.people[0]!, { honeypotHit: true, score: 0 }), undefined);
  assert.deepEqual([...(await answersOf(s))], [{ score: 10, held_reason: null }]);
});

test('anybody can answer by the shareable link, and no contact changes', async () => {
  const s = await survey();
  await Promise.all([answer(s, null), answer(s, null)]);
  assert.equal((await answersOf(s)).length, 2);
  assert.equal(await statusOf(s), 'active');
});

test('the last answer completes the survey and emits one event for it', async () => {
  const s = await survey();
  for (const person of s.people) await answer(s, person);

  assert.equal(await statusOf(s), 'completed');
  assert.deepEqual(await events(s), ['response.received', 'response.received', 'survey.completed']);
});

test('a survey completes once when all contacts answer at once', async () => {
  const s = await survey({ contacts: (await mostUncommitted()) + 30 });
  await db`
    update contacts
    set sent_at = now() - interval '1 hour', status = case when random() < 0.2 then 'bounced' else 'sent' end
    where survey_id = ${s.surveyId} and random() < 0.7`;
  const second = connect(url, { connections: 10 });
  await Promise.all(
    s.people.map((person, at) =>
      answerThrough(at % 2 ? db : second, linkOf({ ...s, contactId: person }), { score: at % 11 }),
    ),
  );
  await second.end();

  assert.equal(await statusOf(s), 'completed');
  assert.equal((await events(s)).filter((event) => event === 'survey.completed').length, 1);
  assert.equal((await answersOf(s)).length, s.people.length);
  await assertTalliesHold(db);
});

/** Records an answer as a group of one. Returns true if it was recorded. */
async function respond(sql: Sql, s: Survey, contactId: string): Promise<boolean> {
  const effects = { added: { orgId: s.orgId, events: [] }, analyze: false };
  const response = responseOf(s, contactId);
  return (await recordAnswers(sql, [{ response, effects }], 0)).length === 1;
}

test('an answer waits for the lock when few contacts are left', async () => {
  const s = await survey();
  let waiting: ReturnType<typeof respond> | undefined;
  await db.begin(async (tx) => {
    assert.ok(await respond(tx, s, s.people[0]!));
    waiting = respond(db, s, s.people[1]!);
    await untilLockWaits(db);
  });
  assert.equal(await waiting, false);
});

test('the last answer waits for answers that began earlier', async () => {
  const s = await survey();
  let waiting: ReturnType<typeof respond> | undefined;
  await db.begin(async (tx) => {
    await tx`select from surveys where id = ${s.surveyId} for key share`;
    waiting = respond(db, s, s.people[0]!);
    await untilLockWaits(db);
  });
  assert.equal(await waiting, true);
});

test('closing a survey emits one event, and closing it again emits none', async () => {
  const s = await survey();
  await closeSurvey({ db }, commandWriter(s.orgId), s.surveyId);
  await closeSurvey({ db }, commandWriter(s.orgId), s.surveyId);
  assert.deepEqual(await events(s), ['survey.completed']);
});
