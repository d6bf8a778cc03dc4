import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { advanceCampaign, type CampaignTurn } from '../../src/campaigns/advance.ts';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import {
  createCampaign,
  pauseCampaign,
  resumeCampaign,
  stopCampaign,
} from '../../src/campaigns/campaign.ts';
import { findCampaign, listDelayed } from '../../src/campaigns/queries.ts';
import { inTransaction, one } from '../../src/lib/db/db.ts';
import { suppress } from '../../src/suppressions/suppress.ts';
import { allResults, campaignRunner, makeContacts, type Says } from '../support/make/campaigns.ts';
import { accepted, lost, rejected, unanswered } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Options = { says?: Says; organization?: object; survey?: object; people?: number };

async function scene({ says, organization = {}, survey = {}, people = 10 }: Options = {}) {
  const orgId = await makeOrganization(db, organization as Record<string, unknown>);
  const surveyId = await makeSurvey(db, orgId, survey as Record<string, unknown>);
  const contacts = await makeContacts(db, { orgId, surveyId }, { count: people });
  const by = commandWriter(orgId);
  const runner = campaignRunner(db, orgId, says ? { says } : {});
  return {
    orgId,
    surveyId,
    contacts,
    by,
    ...runner,
    create: (wish = {}) => createCampaign(runner.tools, by, { surveyId, ...wish }),
    find: async (id: string) => (await findCampaign(db, orgId, id))!,
    results: (id: string) => allResults(db, orgId, id),
    used: async () =>
      (await db<{ used: number }[]>`select used from mail_usage where org_id = ${orgId}`).reduce(
        (sum, { used }) => sum + used,
        0,
      ),
    batches: async (id: string) =>
      (
        await db<{ mails: number }[]>`
        select count(*)::int as mails from campaign_contacts
        where campaign_id = ${id} group by batch_id order by mails desc`
      ).map(({ mails }) => mails),
    statuses: async () => {
      const rows = await db<{ status: string; count: number }[]>`
        select status, count(*)::int as count from contacts where org_id = ${orgId} group by 1`;
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },
  };
}

const counts = ({ total, sent, duplicates, failed, remaining }: Record<string, unknown>) => [
  total,
  sent,
  duplicates,
  failed,
  remaining,
];

test('every pending contact gets one mail', async () => {
  const { orgId, create, find, workFor, mailed, used, statuses, results, contacts } = await scene();
  const id = await create();
  assert.equal((await find(id)).status, 'running');
  await workFor(3);
  const campaign = await find(id);
  assert.equal(campaign.status, 'finished');
  assert.deepEqual(counts(campaign), [10, 10, 0, 0, 0]);
  assert.deepEqual(
    mailed.map(({ email }) => email).sort(),
    contacts.map(({ email }) => email).sort(),
  );
  assert.equal(await used(), 10);
  assert.deepEqual(await statuses(), { sent: 10 });
  assert.deepEqual(new Set((await results(id)).map(({ status }) => status)), new Set(['sent']));
  const replies = await db`select distinct server_reply from mails where org_id = ${orgId}`;
  assert.deepEqual([...replies], [{ server_reply: '250 ok' }]);
});

test('blocked contacts count as duplicates with a reason', async () => {
  const { orgId, contacts, create, find, workFor, results, used } = await scene();
  const refuse = (place: number) =>
    inTransaction(db, (tx) =>
      suppress(
        tx,
        { orgId, email: contacts[place]!.email },
        { kind: 'unsubscribed', detail: null },
      ),
    );
  await db`update contacts set status = 'pending' where org_id = ${orgId}`;
  await db`insert into suppressions (org_id, email, kind) values (${orgId}, ${contacts[0]!.email}, 'bounced')`;
  const id = await create();
  assert.deepEqual(counts(await find(id)), [10, 0, 1, 0, 9]);
  await refuse(1);
  await workFor(2);
  assert.deepEqual(counts(await find(id)), [10, 8, 2, 0, 0]);
  assert.equal(await used(), 8);
  const byEmail = new Map((await results(id)).map((each) => [each.email, each]));
  assert.equal(byEmail.get(contacts[0]!.email)?.reason_code, 'bounced');
  assert.equal(byEmail.get(contacts[1]!.email)?.reason_code, 'unsubscribed');
});

test('a contact that unsubscribes after the claim counts as a duplicate', async () => {
  const { orgId, contacts, create, find, work, workFor, used } = await scene({ people: 3 });
  const id = await create();
  await work({ without: ['sends.mail'] });
  await inTransaction(db, (tx) =>
    suppress(tx, { orgId, email: contacts[0]!.email }, { kind: 'unsubscribed', detail: null }),
  );
  await workFor(2);
  assert.deepEqual(counts(await find(id)), [3, 2, 1, 0, 0]);
  assert.equal(await used(), 2);
});

test('failed mails return their quota and are retried later', async () => {
  let isDown = true;
  const says: Says = ({ email }) =>
    isDown && email.startsWith('p1-') ? rejected('554 no') : accepted();
  const { create, find, workFor, used } = await scene({ says, people: 4 });
  const first = await create();
  await workFor(2);
  assert.deepEqual(counts(await find(first)), [4, 3, 0, 1, 0]);
  assert.equal(await used(), 3);
  isDown = false;
  const second = await create();
  await workFor(2);
  assert.deepEqual(counts(await find(second)), [1, 1, 0, 0, 0]);
  assert.equal(await used(), 4);
});

test('an unknown outcome counts as failed and is not retried', async () => {
  const says: Says = ({ email }) => (email.startsWith('p1-') ? unanswered('cut') : accepted());
  const { create, find, workFor, results, mailed } = await scene({ says, people: 2 });
  const first = await create();
  await workFor(2);
  assert.deepEqual(counts(await find(first)), [2, 1, 0, 1, 0]);
  const second = await create();
  await workFor(2);
  assert.deepEqual(counts(await find(second)), [1, 0, 1, 0, 0]);
  assert.equal((await results(second))[0]?.reason_code, 'unknown_outcome');
  assert.equal(mailed.length, 2);
});

test('a campaign beyond the monthly limit is refused as a whole', async () => {
  const { create, used, work, later, mailed } = await scene({
    organization: { monthly_send_limit: 9 },
  });
  await assert.rejects(create(), {
    code: 'SEND_LIMIT_EXCEEDED',
    details: { current_limit: 9, used: 0, requested: 10 },
  });
  assert.deepEqual(
    [...(await db`select from campaigns where status = 'running' and finished_at is not null`)],
    [],
  );
  const tools = await scene({ organization: { monthly_send_limit: 9 } });
  const id = await tools.create({ send_at: new Date(tools.clock.at.getTime() + 60_000) });
  await tools.work();
  assert.equal((await tools.find(id)).status, 'scheduled');
  tools.later(61_000);
  await tools.work();
  const campaign = await tools.find(id);
  assert.equal(campaign.status, 'refused');
  assert.match(campaign.reason ?? '', /monthly send limit of 9/);
  assert.deepEqual([...(await tools.results(id))], []);
  later(0);
  await work();
  assert.deepEqual([await used(), await tools.used(), mailed.length], [0, 0, 0]);
});

test('mails use the quota of the month in which the campaign starts', async () => {
  const { orgId, create, find, workFor, clock } = await scene({ people: 4 });
  clock.at = new Date('2027-01-31T23:59:58Z');
  const id = await create({ per_hour: 3600 });
  await workFor(8);
  assert.deepEqual(counts(await find(id)), [4, 4, 0, 0, 0]);
  const months = await db<{ month: string; used: number }[]>`
    select month::text, used from mail_usage where org_id = ${orgId} and used > 0`;
  assert.deepEqual([...months], [{ month: '2027-01-01', used: 4 }]);
});

test('per_hour is spread evenly', async () => {
  const { create, find, workFor, mailed } = await scene({ people: 30 });
  const id = await create({ per_hour: 7200 });
  const seen: number[] = [];
  for (let second = 0; second < 5; second++) {
    await workFor(0);
    seen.push(mailed.length);
  }
  assert.deepEqual(seen, [1, 3, 5, 7, 9]);
  assert.equal((await find(id)).remaining, 21);
});

test('pausing withdraws claimed mails; resuming keeps the pace', async () => {
  const { by, tools, create, find, work, workFor, mailed, used, later, statuses } = await scene();
  const id = await create();
  await work({ without: ['sends.mail'] });
  assert.deepEqual(await statuses(), { sending: 10 });
  await pauseCampaign(tools, by, id);
  assert.deepEqual(await statuses(), { pending: 10 });
  await workFor(3);
  assert.equal(mailed.length, 0);
  assert.deepEqual(counts(await find(id)), [10, 0, 0, 0, 10]);
  assert.equal(await used(), 10);
  await pauseCampaign(tools, by, id);
  later(3_600_000);
  await resumeCampaign(tools, by, id);
  await resumeCampaign(tools, by, id);
  await workFor(3);
  assert.deepEqual(counts(await find(id)), [10, 10, 0, 0, 0]);
  assert.equal(mailed.length, 10);
});

test('stopping returns the quota and is final', async () => {
  const { by, tools, create, find, workFor, mailed, used, results } = await scene();
  const id = await create({ per_hour: 3600 });
  await workFor(3);
  await stopCampaign(tools, by, id);
  const already = mailed.length;
  await workFor(3);
  assert.equal(mailed.length, already);
  const campaign = await find(id);
  assert.deepEqual([campaign.status, campaign.sent, campaign.remaining], ['stopped', 4, 6]);
  assert.equal(await used(), 4);
  const left = (await results(id)).filter(({ status }) => status === 'waiting');
  assert.deepEqual(new Set(left.map(({ reason_code }) => reason_code)), new Set(['stopped']));
  for (const act of [pauseCampaign, resumeCampaign, stopCampaign]) {
    await assert.rejects(act(tools, by, id), { code: 'campaign_over' });
  }
});

test('closing the survey stops the campaign with a reason', async () => {
  const { surveyId, create, find, workFor, used } = await scene();
  const id = await create({ per_hour: 3600 });
  await workFor(1);
  await db`update surveys set status = 'completed', completed_by = 'hand', completed_at = now() where id = ${surveyId}`;
  await workFor(2);
  const campaign = await find(id);
  assert.deepEqual([campaign.status, campaign.sent, await used()], ['stopped', 2, 2]);
  assert.match(campaign.reason ?? '', /closed/);
});

test('mails wait while the mail server is down', async () => {
  let isDown = true;
  const { create, find, work, workFor, used } = await scene({
    says: () => (isDown ? lost('ECONNREFUSED') : accepted()),
    people: 3,
  });
  const id = await create();
  await work();
  assert.deepEqual(counts(await find(id)), [3, 0, 0, 0, 3]);
  isDown = false;
  await workFor(30);
  assert.deepEqual(counts(await find(id)), [3, 3, 0, 0, 0]);
  assert.equal(await used(), 3);
});

for (const about of ['server', 'sender', 'policy'] as const) {
  test(`pauses a campaign when the ${about} is refused`, async () => {
    let isRefused = true;
    const refusal = rejected('550 5.7.1 no', { about });
    const { by, tools, create, find, work, workFor, used, statuses, mailed } = await scene({
      says: () => (isRefused ? refusal : accepted()),
      people: 30,
    });
    const id = await create();
    await work();
    const campaign = await find(id);
    assert.equal(campaign.status, 'paused');
    assert.match(campaign.reason ?? '', /^the mail server .*: 550 5\.7\.1 no$/);
    assert.deepEqual(counts(campaign), [30, 0, 0, 0, 30]);
    assert.deepEqual(await statuses(), { pending: 30 });
    assert.equal(await used(), 30);
    const tries = mailed.length;
    await workFor(5);
    assert.equal(mailed.length, tries);

    isRefused = false;
    await resumeCampaign(tools, by, id);
    assert.equal((await find(id)).reason, null);
    await workFor(3);
    assert.deepEqual(counts(await find(id)), [30, 30, 0, 0, 0]);
  });
}

test('pauses a paced campaign when policy refuses its first three mails', async () => {
  const { create, find, work, later } = await scene({
    says: () => rejected('554 5.7.1 no', { about: 'policy' }),
  });
  const id = await create({ per_hour: 3600 });
  for (let mails = 0; mails < 3; mails++) {
    await work({ without: ['sends.mail'] });
    later(1000);
  }
  await work();
  const campaign = await find(id);
  assert.equal(campaign.status, 'paused');
  assert.deepEqual(counts(campaign), [10, 0, 0, 0, 10]);
});

test('a campaign shows why its mails are delayed', async () => {
  const { orgId, create, find, work, mailJobs } = await scene({
    says: () => lost('ECONNREFUSED'),
    people: 2,
  });
  const id = await create();
  await work({ without: ['sends.mail'] });
  const jobs = () => db<{ mail_ids: string[]; stuck_since: string | null }[]>`
    delete from test.jobs
    where task = 'sends.mail' and payload ->> 'org_id' = ${orgId}
    returning payload -> 'mail_ids' as mail_ids, payload ->> 'stuck_since' as stuck_since`;
  const { mail_ids } = one(await jobs());
  const since = '2026-11-01T08:00:00.000Z';
  await mailJobs.run(orgId, mail_ids, null, since);
  assert.deepEqual(
    (await jobs()).map(({ stuck_since }) => stuck_since),
    [since],
  );
  assert.partialDeepStrictEqual(await find(id), { status: 'running', reason: 'ECONNREFUSED' });
  const delayed = (await listDelayed(db, orgId)).map(({ id, reason }) => [id, reason]);
  assert.deepEqual(delayed, [[id, 'ECONNREFUSED']]);
});

test('outside the window claimed mails are withdrawn', async () => {
  const window = { days: ['mon'], from: '09:00', to: '17:00', time_zone: 'Europe/Berlin' };
  const { surveyId, create, find, work, workFor, clock, mailed, statuses } = await scene({
    survey: { send_window: window },
    people: 5,
  });
  clock.at = new Date('2027-03-29T06:59:59Z'); // Monday, 08:59:59 in summer time
  const id = await create({ per_hour: 3600 });
  await workFor(3);
  assert.equal(mailed.length, 3);
  await db`update surveys set send_window = null where id = ${surveyId}`;
  await work({ without: ['sends.mail'] });
  await db`update surveys set send_window = ${db.json(window)} where id = ${surveyId}`;
  clock.at = new Date('2027-03-29T15:00:01Z');
  await work({ without: ['sends.mail'] });
  await work();
  assert.deepEqual(await statuses(), { pending: 2, sent: 3 });
  clock.at = new Date('2027-04-05T06:59:59Z');
  await work();
  assert.equal(mailed.length, 3);
  clock.at = new Date('2027-04-05T07:00:00Z');
  await workFor(3);
  assert.deepEqual(counts(await find(id)), [5, 5, 0, 0, 0]);
});

test('a sweep renews a lost job', async () => {
  const { orgId, tools, create, find, work, workFor, later } = await scene();
  const id = await create();
  await db`delete from test.jobs where payload ->> 'org_id' = ${orgId}`;
  later(60_000);
  await sweepCampaigns(tools);
  await work();
  assert.equal((await find(id)).sent, 0, 'its job may still be on its way');
  later(1);
  await work();
  assert.equal((await find(id)).sent, 0);
  await sweepCampaigns(tools);
  await workFor(2);
  assert.equal((await find(id)).sent, 10);
});

test('a job of an older turn does nothing', async () => {
  const { orgId, tools, create, find, work, later } = await scene();
  const jobs = () => db<{ id: string; payload: CampaignTurn }[]>`
    select id, payload from test.jobs
    where task = 'campaigns.advance' and payload ->> 'org_id' = ${orgId}`;
  const id = await create();
  const [lost] = await jobs();
  await db`delete from test.jobs where id = ${lost!.id}`;
  later(61_000);
  await sweepCampaigns(tools);
  await advanceCampaign(tools, lost!.payload);
  assert.equal((await jobs()).length, 1);
  assert.equal((await find(id)).remaining, 10);
  await work();
  assert.equal((await find(id)).sent, 10);
});

test('two concurrent campaigns mail each contact once', async () => {
  const { create, find, workFor, mailed, used } = await scene();
  const [one, two] = [await create(), await create()];
  assert.equal(await used(), 20);
  await workFor(3);
  const [first, second] = [await find(one), await find(two)];
  assert.equal(first.sent + second.sent, 10);
  assert.equal(first.duplicates + second.duplicates, 10);
  assert.deepEqual([mailed.length, await used()], [10, 10]);
});

test('deleting a waiting contact returns its quota', async () => {
  const { contacts, create, find, workFor, used } = await scene({ people: 3 });
  const id = await create();
  await db`delete from contacts where id = ${contacts[0]!.id}`;
  await workFor(3);
  assert.deepEqual(counts(await find(id)), [3, 2, 1, 0, 0]);
  assert.equal(await used(), 2);
});
