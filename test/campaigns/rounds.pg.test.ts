import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import { scheduleOf } from '../../src/campaigns/rounds.ts';
import { closeSurvey } from '../../src/surveys/lifecycle.ts';
import { campaignRunner, makeContacts, type Says } from '../support/make/campaigns.ts';
import { makeOrganization, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { clockedDatabase } from '../support/probe/clocked-database.ts';

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

/** A survey that was sent to all of its contacts when the clock started. */
async function scene({ repeat = {}, organization, survey, people = 3, says }: Options = {}) {
  await set(start);
  const orgId = await makeOrganization(db, organization);
  const surveyId = await makeSurvey(db, orgId, {
    ...(repeat && {
      repeat: db.json({ every_days: 30, per_day: null, spread: false, ...repeat }),
      repeat_since: start,
    }),
    ...survey,
  });
  await makeContacts(db, { orgId, surveyId }, { count: people });
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
      set repeat = ${change && db.json({ every_days: 30, per_day: null, spread: false, ...change })},
          repeat_since = ${change && runner.clock.at}
      where id = ${surveyId}`,
  };
}

test('rounds ask each contact again after the days, and not before', async () => {
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

test('a spread cycle asks each contact once, on even days', async () => {
  const { at, schedule, rounds } = await scene({ repeat: { spread: true }, people: 300 });
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

test('a closed survey starts no rounds', async () => {
  const { at, surveyId, orgId, schedule } = await scene();
  await closeSurvey({ db }, writeKeyOf(orgId), surveyId);
  assert.equal(await at(31), 0);
  assert.ok((await schedule()).every(({ count }) => count === 0));
});
