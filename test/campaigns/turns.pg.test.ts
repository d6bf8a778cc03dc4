import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { createCampaign, pauseCampaign, resumeCampaign } from '../../src/campaigns/campaign.ts';
import { renewOverdue } from '../../src/campaigns/queries.ts';
import { one } from '../../src/lib/db/db.ts';
import { campaignRunner, makeContacts } from '../support/make/campaigns.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function scene({ people = 1, survey = {} }: { people?: number; survey?: object } = {}) {
  const orgId = await makeOrganization(db);
  const surveyId = await makeSurvey(db, orgId, survey as Record<string, unknown>);
  const contacts = await makeContacts(db, { orgId, surveyId }, { count: people });
  const runner = campaignRunner(db, orgId);
  const by = commandWriter(orgId);
  return {
    orgId,
    surveyId,
    contacts,
    by,
    ...runner,
    create: (wish = {}) => createCampaign(runner.tools, by, { surveyId, ...wish }),
    status: async (id: string) =>
      one(await db<{ status: string }[]>`select status from campaigns where id = ${id}`).status,
  };
}

test('a campaign claims at most 4,000 mails ahead', async () => {
  const { orgId, create, work, later } = await scene({ people: 4500 });
  await create();
  for (let turn = 0; turn < 2; turn++) {
    await work({ without: ['sends.mail'] });
    assert.equal((await db`select from mails where org_id = ${orgId}`).length, 4000);
    later(500);
  }
});

test('a campaign finishes with its last mail, even outside its send window', async () => {
  const window = { days: ['mon'], from: '09:00', to: '17:00', time_zone: 'UTC' };
  const { clock, create, work, status } = await scene({ survey: { send_window: window } });
  clock.at = new Date('2027-03-29T16:59:59Z'); // Monday
  const id = await create();
  await work();
  assert.equal(await status(id), 'running');
  clock.at = new Date('2027-03-29T17:00:00Z');
  await work();
  assert.equal(await status(id), 'finished');
});

test('a resumed campaign has one live job', async () => {
  const { by, tools, create } = await scene();
  const id = await create();
  await pauseCampaign(tools, by, id);
  await resumeCampaign(tools, by, id);
  const turns = await db`
    select from test.jobs o
    join campaigns c on c.id::text = o.payload ->> 'campaign_id' and c.turn = (o.payload ->> 'turn')::int
    where c.id = ${id}`;
  assert.equal(turns.length, 1);
});

test('a hundred overdue campaigns are renewed at once', async () => {
  const { orgId: org_id, surveyId: survey_id } = await scene();
  const minutes = Array.from({ length: 102 }, (_, place) => (place * 5) % 102);
  await db`insert into campaigns ${db(
    minutes.map((minute) => ({
      org_id,
      survey_id,
      name: `${minute}`,
      status: 'running',
      next_at: new Date(Date.UTC(2020, 0, 1, 0, minute)),
    })),
  )}`;
  const before = new Date('2021-01-01T00:00:00Z');
  assert.equal((await renewOverdue(db, before)).length, 100);
  const left = await db`select name from campaigns where next_at < ${before} order by next_at`;
  assert.deepEqual([...left], [{ name: '100' }, { name: '101' }]);
});
