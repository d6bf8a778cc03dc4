import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import { listAutomaticSurveys } from '../../src/campaigns/judge.ts';
import { askRounds, scheduleOf } from '../../src/campaigns/rounds.ts';
import { erasePerson } from '../../src/people/erase.ts';
import { savePeople } from '../../src/people/save.ts';
import { createSegment, deleteSegment } from '../../src/people/segments.ts';
import { claim } from '../../src/sends/claim.ts';
import { readContact } from '../../src/sends/rules.ts';
import { changeSurvey, closeSurvey } from '../../src/surveys/lifecycle.ts';
import { campaignRunner, makeContacts, type Says } from '../support/make/campaigns.ts';
import { eraseTools, erasureFolder } from '../support/make/erasure.ts';
import { makeOrganization, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { clockedDatabase } from '../support/probe/clocked-database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';

const start = new Date('2027-01-04T09:00:00Z');
const { db, set } = await clockedDatabase(start);
const dayMs = 24 * 60 * 60 * 1000;

type Options = {
  repeat?: object | null;
  organization?: Record<string, unknown>;
  survey?: Record<string, unknown>;
  people?: number;
  says?: Says;
};

/** The places in a spread cycle come from the survey's id: a fixed one makes each run alike. */
const fixedId = (digit: number) => ({ id: `0193f0aa-0000-7000-8000-00000000000${digit}` });

/** A survey that was sent to all of its contacts when the clock started. */
async function scene({ repeat = {}, organization, survey, people = 3, says }: Options = {}) {
  await set(start);
  const orgId = await makeOrganization(db, organization);
  const surveyId = await makeSurvey(db, orgId, {
    ...(repeat && {
      repeat: db.json({ every_days: 30, audience: null, per_day: null, spread: false, ...repeat }),
      repeat_since: start,
    }),
    ...survey,
  });
  const contacts = await makeContacts(db, { orgId, surveyId }, { count: people });
  await db`
    insert into mails (org_id, survey_id, contact_id, email, request_id, month, status, claimed_at, finished_at)
    select org_id, survey_id, id, email, gen_random_uuid(), '2027-01-01', 'sent', ${start}, ${start}
    from contacts where survey_id = ${surveyId}`;
  await db`update contacts set status = 'sent', sent_at = ${start} where survey_id = ${surveyId}`;
  const runner = campaignRunner(db, orgId, says ? { says } : {});
  runner.clock.at = start;
  const sweep = async () => {
    await set(runner.clock.at);
    await sweepCampaigns(runner.tools);
    await runner.work();
  };
  const ofSurvey = { orgId, surveyId };
  return {
    ...ofSurvey,
    contacts,
    ...runner,
    sweep,
    /** Sets the clock to a time after the start, and runs once. */
    at: async (days: number, ms = 0) => {
      runner.clock.at = new Date(start.getTime() + days * dayMs + ms);
      await sweep();
      return runner.mailed.length;
    },
    schedule: () => scheduleOf(runner.tools, ofSurvey),
    rounds: async () => [
      ...(await db<{ round: number; superseded: boolean; status: string; count: number }[]>`
        select round, superseded, status, count(*)::int as count
        from contacts where survey_id = ${surveyId} group by 1, 2, 3 order by 1, 2, 3`),
    ],
    change: (change: object | null) => db`
      update surveys
      set repeat = ${change && db.json({ every_days: 30, audience: null, per_day: null, spread: false, ...change })},
          repeat_since = ${change && runner.clock.at}
      where id = ${surveyId}`,
  };
}

test('rounds ask each contact again after every_days, not earlier', async () => {
  const { at, rounds, mailed } = await scene();
  assert.equal(await at(30, -1000), 0);
  assert.equal(await at(30), 3);
  assert.equal(await at(30, 60_000), 3);
  assert.deepEqual(await rounds(), [
    { round: 1, superseded: true, status: 'sent', count: 3 },
    { round: 2, superseded: false, status: 'sent', count: 3 },
  ]);
  assert.equal(new Set(mailed.map(({ token }) => token)).size, 3);
  assert.equal(await at(60, -1000), 3);
  assert.equal(await at(60), 6);
});

test('a spread cycle asks each contact once, evenly over the days', async () => {
  const { at, schedule, rounds } = await scene({
    repeat: { spread: true },
    survey: fixedId(1),
    people: 300,
  });
  await at(29);
  const days = await schedule();
  assert.equal(days.length, 30);
  assert.equal(days[0]!.count, 0);
  const sums: number[] = [];
  for (let day = 30; day < 60; day++) sums.push(await at(day));
  const each = sums.map((sum, place) => sum - (sums[place - 1] ?? 0));
  assert.deepEqual(
    each.slice(0, 29),
    days.slice(1).map(({ count }) => count),
  );
  assert.equal(sums.at(-1), 300);
  assert.ok(Math.max(...each) <= 20 && Math.min(...each) >= 2, String(each));
  for (let day = 60; day < 90; day++) sums.push(await at(day));
  assert.equal(sums.at(-1), 600);
  assert.deepEqual(await rounds(), [
    { round: 1, superseded: true, status: 'sent', count: 300 },
    { round: 2, superseded: true, status: 'sent', count: 300 },
    { round: 3, superseded: false, status: 'sent', count: 300 },
  ]);
});

test('the schedule predicts every round of a short cycle', async () => {
  const openDays = ['mon', 'tue', 'wed', 'thu', 'fri'];
  const weekdays = { days: openDays, from: '08:00', to: '18:00', time_zone: 'UTC' };
  const { at, schedule } = await scene({
    repeat: { every_days: 9, spread: true },
    survey: { ...fixedId(2), send_window: weekdays },
    people: 60,
  });
  await at(8);
  const days = await schedule();
  const sums = [await at(8)];
  for (let day = 9; day < 38; day++) sums.push(await at(day));
  assert.deepEqual(
    sums.slice(1).map((sum, place) => sum - sums[place]!),
    days.slice(1).map(({ count }) => count),
  );
  assert.ok(sums.at(-1)! > 2 * 60, String(sums));
});

test('a closed survey starts no rounds', async () => {
  const { at, surveyId, orgId, schedule } = await scene();
  await closeSurvey({ db }, writeKeyOf(orgId), surveyId);
  assert.equal(await at(31), 0);
  assert.ok((await schedule()).every(({ count }) => count === 0));
});

const send = (survey: { orgId: string; surveyId: string }, emails: readonly string[]) =>
  claim(db, survey, {
    requestId: crypto.randomUUID(),
    submitted: emails.map((email) => readContact({ email })),
    traceparent: null,
  });

test('a send starts the round of a contact only when it is due', async () => {
  const { orgId, surveyId, at, contacts, clock, work, rounds } = await scene({
    people: 1,
    repeat: { spread: true },
  });
  const emails = contacts.map(({ email }) => email);
  await set(new Date(start.getTime() + 29 * dayMs));
  const early = await send({ orgId, surveyId }, emails);
  assert.partialDeepStrictEqual(early.judgements, [{ reason_code: 'already_sent' }]);
  clock.at = new Date(start.getTime() + 30 * dayMs);
  await set(clock.at);
  const due = await send({ orgId, surveyId }, emails);
  assert.equal(due.claimed.size, 1);
  const again = await send({ orgId, surveyId }, emails);
  assert.partialDeepStrictEqual(again.judgements, [{ reason_code: 'in_flight' }]);
  await work();
  assert.deepEqual(
    (await rounds()).map(({ round, status }) => [round, status]),
    [
      [1, 'sent'],
      [2, 'sent'],
    ],
  );
  assert.equal(await at(31), 1);
});

test('a day asks at most per_day contacts, and the rest stays due', async () => {
  const { at, schedule } = await scene({ people: 5, repeat: { per_day: 2 } });
  assert.equal(await at(30), 2);
  assert.equal(await at(30, 3_600_000), 2);
  const counts = (await schedule()).map(({ count }) => count);
  assert.deepEqual(counts.slice(0, 4), [0, 2, 1, 0]);
  assert.deepEqual([await at(31), await at(32)], [4, 5]);
});

test('a round sends what the monthly limit allows, and the rest next month', async () => {
  const { at } = await scene({ people: 5, organization: { monthly_send_limit: 2 } });
  assert.deepEqual([await at(30), await at(31)], [2, 2]);
  const nextMonth = (Date.parse('2027-03-01T09:00:00Z') - start.getTime()) / dayMs;
  assert.equal(await at(nextMonth), 4);
});

test('rounds follow repeat when it is turned off, turned on or changed', async () => {
  const { at, change, clock } = await scene();
  clock.at = new Date(start.getTime() + 29 * dayMs);
  await change(null);
  assert.equal(await at(31), 0);
  await change({ every_days: 40 });
  assert.deepEqual([await at(39), await at(40)], [0, 3]);
  await change({ every_days: 10 });
  assert.deepEqual([await at(49), await at(50)], [3, 6]);
});

test('two planners at once start each round once', async () => {
  const { at, tools, clock, rounds, work } = await scene({ people: 50 });
  clock.at = new Date(start.getTime() + 30 * dayMs);
  await set(clock.at);
  await Promise.all(Array.from({ length: 4 }, () => sweepCampaigns(tools)));
  await work();
  assert.equal(await at(30, 60_000), 50);
  assert.partialDeepStrictEqual(await rounds(), [
    { round: 1, superseded: true, count: 50 },
    { round: 2, superseded: false, count: 50 },
  ]);
});

test('two planners at once keep to per_day together', async () => {
  const { tools, clock, rounds, surveyId } = await scene({ people: 6, repeat: { per_day: 2 } });
  clock.at = new Date(start.getTime() + 30 * dayMs);
  await set(clock.at);
  const surveys = await listAutomaticSurveys(db);
  const survey = surveys.find(({ survey_id }) => survey_id === surveyId);
  let late: Promise<void> | undefined;
  // The late planner counts the day, and waits. The other one asks meanwhile.
  await db.begin(async (tx) => {
    await tx`lock table suppressions`;
    late = askRounds(tools, survey!, clock.at);
    await untilLockWaits(db);
    const within = new Proxy(tx, {
      get: (target, name) =>
        name === 'begin'
          ? (_mode: string, work: (sql: unknown) => unknown) => work(tx)
          : Reflect.get(target, name),
    });
    await askRounds({ ...tools, db: within as unknown as typeof db }, survey!, clock.at);
  });
  await late;
  assert.partialDeepStrictEqual(await rounds(), [{ count: 4 }, { count: 2 }, { count: 2 }]);
});

test('contacts of missed days are asked over the next days', async () => {
  const { at } = await scene({
    repeat: { spread: true },
    survey: fixedId(3),
    people: 300,
  });
  await at(30);
  const before = await at(31);
  const sums = [await at(36), await at(37), await at(38), await at(39)];
  const each = sums.map((sum, place) => sum - (sums[place - 1] ?? before));
  assert.ok(each.every((count) => count <= 20) && each[0] === 20 && each[3] === 20, String(each));
  let sum = 0;
  for (let day = 40; day < 60; day++) sum = await at(day);
  assert.equal(sum, 300);
});

test('a person erased after the plan gets no email', async () => {
  const { at, orgId, tools, clock, work, mailed, contacts } = await scene({ people: 2 });
  clock.at = new Date(start.getTime() + 30 * dayMs);
  await set(clock.at);
  await sweepCampaigns(tools);
  await erasePerson(eraseTools(db, erasureFolder()), writeKeyOf(orgId), {
    email: contacts[0]!.email,
    scores: 'deleted',
  });
  await work();
  assert.deepEqual(
    mailed.map(({ email }) => email),
    [contacts[1]!.email],
  );
  await at(62);
  assert.equal(await at(62, 60_000), 2);
});

test('a round keeps its hour when summer time begins', async () => {
  const { at } = await scene({
    organization: { time_zone: 'Europe/Berlin' },
    repeat: { every_days: 90 },
  });
  assert.equal(await at(90, -3_601_000), 0);
  assert.equal(await at(90, -3_600_000), 3);
});

test('rounds continue when the last answer completed the survey', async () => {
  const { at, surveyId } = await scene();
  await db`
    update surveys set status = 'completed', completed_by = 'answers', completed_at = ${start} where id = ${surveyId}`;
  assert.equal(await at(30), 3);
  const [survey] = await db`select status from surveys where id = ${surveyId}`;
  assert.equal(survey!['status'], 'active');
});

test('reminders are sent in each round until the next one begins', async () => {
  const reminders = db.json([{ after_days: 5 }]);
  const { at, mailed } = await scene({
    people: 1,
    repeat: { every_days: 7 },
    survey: { reminders },
  });
  for (let day = 1; day <= 14; day++) await at(day);
  assert.deepEqual(
    mailed.map(({ reminder }) => reminder),
    [1, 0, 1, 0],
  );
});

test('an audience adds new people and stops asking people who left it', async () => {
  const { at, orgId, surveyId, mailed } = await scene({
    people: 1,
    repeat: { audience: { filter: { all: [{ field: 'property.plan', op: 'is', value: 'pro' }] } } },
  });
  const person = (name: string, plan: string) => ({
    email: `${name}-${surveyId}@new.test`,
    name,
    properties: { plan },
  });
  await savePeople(db, orgId, [person('ann', 'pro'), person('bob', 'free')]);
  assert.equal(await at(1), 1);
  assert.match(mailed[0]!.email, /^ann/);
  await savePeople(db, orgId, [person('bob', 'pro')]);
  assert.equal(await at(2), 2);
  await savePeople(db, orgId, [{ ...person('ann', 'free'), name: 'Anna' }]);
  assert.equal(await at(40), 3);
  assert.match(mailed[2]!.email, /^bob/);
  await savePeople(db, orgId, [person('ann', 'pro')]);
  assert.equal(await at(41), 4);
  assert.deepEqual([mailed[3]!.name, mailed[3]!.properties], ['ann', { plan: 'pro' }]);
});

test('a segment that the rounds of a survey use cannot be deleted', async () => {
  const { orgId, surveyId } = await scene();
  const writer = writeKeyOf(orgId);
  const filter = { all: [{ field: 'language', op: 'is' as const, value: 'de' }] };
  const { id } = await createSegment(db, writer, { name: 'Germany', filter });
  const repeat = { every_days: 30, audience: { segment_id: id }, per_day: null, spread: true };
  await changeSurvey({ db }, writer, { id: surveyId, change: { repeat } });
  await assert.rejects(deleteSegment(db, writer, id), { code: 'segment_in_use' });
  await changeSurvey({ db }, writer, { id: surveyId, change: { repeat: null } });
  await deleteSegment(db, writer, id);
  await assert.rejects(
    changeSurvey({ db }, writer, { id: surveyId, change: { repeat } }),
    /no such segment/,
  );
});
