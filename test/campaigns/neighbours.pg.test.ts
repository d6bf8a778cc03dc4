import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import { createCampaign, pauseCampaign, stopCampaign } from '../../src/campaigns/campaign.ts';
import { findCampaign } from '../../src/campaigns/queries.ts';
import { one } from '../../src/lib/db/db.ts';
import { allResults, campaignRunner, makeContacts, type Says } from '../support/make/campaigns.ts';
import { accepted } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function scene(says: Says = accepted) {
  const orgId = await makeOrganization(db);
  const by = commandWriter(orgId);
  const runner = campaignRunner(db, orgId, { says });
  return {
    orgId,
    by,
    ...runner,
    survey: async (people: number, over = {}) => {
      const surveyId = await makeSurvey(db, orgId, over);
      return { surveyId, contacts: await makeContacts(db, { orgId, surveyId }, { count: people }) };
    },
    create: (surveyId: string) => createCampaign(runner.tools, by, { surveyId }),
    find: async (id: string) => (await findCampaign(db, orgId, id))!,
    statuses: async (id: string) => (await allResults(db, orgId, id)).map(({ status }) => status),
    used: async () =>
      one(await db<{ used: number }[]>`select used from mail_usage where org_id = ${orgId}`).used,
  };
}

const claimOnly = { without: ['sends.mail'] };

test('pausing withdraws only the mails of that campaign', async () => {
  const { by, tools, survey, create, find, work, workFor, mailed } = await scene();
  const [one, other] = [await survey(2), await survey(3)];
  const [paused, running] = [await create(one.surveyId), await create(other.surveyId)];
  await work(claimOnly);
  await pauseCampaign(tools, by, paused);
  assert.equal((await find(paused)).remaining, 2);
  await workFor(3);
  assert.deepEqual(
    mailed.map(({ email }) => email).sort(),
    other.contacts.map(({ email }) => email).sort(),
  );
  const { status, sent, remaining } = await find(running);
  assert.deepEqual([status, sent, remaining], ['finished', 3, 0]);
});

test('stopping returns the quota of mails that have not started', async () => {
  const { by, tools, survey, create, find, work, used } = await scene();
  const id = await create((await survey(3)).surveyId);
  await work(claimOnly);
  assert.equal(await used(), 3);
  await stopCampaign(tools, by, id);
  assert.equal(await used(), 0);
  const { remaining, duplicates } = await find(id);
  assert.deepEqual([remaining, duplicates], [3, 0]);
});

test('closing a survey ends its automatic sends with a reason', async () => {
  const { orgId, by, tools, survey, create, find, statuses, ...rest } = await scene();
  const { later, work, used, mailed } = rest;
  const other = await create((await survey(2)).surveyId);
  await pauseCampaign(tools, by, other);
  const asking = { ask_after_days: 0, ask_after_days_since: new Date(0) };
  const { surveyId } = await survey(3, asking);
  later(1000);
  await sweepCampaigns(tools);
  assert.equal(await used(), 5);
  const closed = { status: 'completed', completed_by: 'hand', completed_at: new Date() };
  await db`update surveys set ${db(closed)} where id = ${surveyId}`;
  await work();

  assert.deepEqual([mailed.length, await used()], [0, 2]);
  const [run] = await db`
    select status, total, duplicates, waiting, next_at from campaigns where survey_id = ${surveyId}`;
  assert.deepEqual(
    { ...run },
    { status: 'running', total: 3, duplicates: 3, waiting: 0, next_at: null },
  );
  const reasons = await db`
    select distinct reason_code from campaign_contacts where survey_id = ${surveyId}`;
  assert.deepEqual([...reasons], [{ reason_code: 'survey_closed' }]);
  assert.deepEqual(await statuses(other), ['waiting', 'waiting']);
  assert.equal((await find(other)).remaining, 2);
  assert.equal((await db`select from test.jobs where payload ->> 'org_id' = ${orgId}`).length, 0);
});
