import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import {
  type CampaignResult,
  listResults,
  nextResults,
  resultStatuses,
} from '../../src/campaigns/results.ts';
import { one } from '../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Become = { name: string; status: (typeof resultStatuses)[number] } & Partial<{
  judged: string;
  isClaimed: boolean;
  mail: { status: string; reason_code?: string };
}>;

/** All that can become of a contact of a campaign, each with what its result says. */
const all: Become[] = [
  { name: 'not-claimed', status: 'waiting' },
  { name: 'blocked-before', status: 'duplicate', judged: 'unsubscribed' },
  { name: 'claimed', status: 'waiting', mail: { status: 'claimed' } },
  { name: 'sending', status: 'waiting', mail: { status: 'sending' } },
  { name: 'sent', status: 'sent', mail: { status: 'sent' } },
  { name: 'mail-gone', status: 'sent', isClaimed: true },
  { name: 'refused', status: 'failed', mail: { status: 'failed', reason_code: 'smtp_rejected' } },
  { name: 'failed', status: 'failed', mail: { status: 'failed' } },
  { name: 'unknown', status: 'failed', mail: { status: 'unknown' } },
  {
    name: 'blocked-after',
    status: 'duplicate',
    mail: { status: 'failed', reason_code: 'unsubscribed' },
  },
];

const minuteOf = (at: number) => new Date(Date.UTC(2026, 10, 2, 8, at));

/** Two of them are added at each time, and an earlier mail of the same survey has failed for each. */
async function campaignWithAll(status = 'running', org?: string) {
  const org_id = org ?? (await makeOrganization(db));
  const survey_id = await makeSurvey(db, org_id);
  const { id: campaign_id } = one(
    await db<{ id: string }[]>`
      insert into campaigns ${db({ org_id, survey_id, name: 'All', status })} returning id`,
  );
  for (const [at, { name, judged, isClaimed, mail }] of all.entries()) {
    const email = `${name}@people.test`;
    const contact_id = await makeContact(db, { org_id, survey_id }, { email });
    const batch_id = mail || isClaimed ? randomUUID() : null;
    await db`insert into campaign_contacts ${db({
      org_id,
      survey_id,
      campaign_id,
      contact_id,
      batch_id,
      reason_code: judged ?? null,
      reason: judged ? `judged ${judged}` : null,
      created_at: minuteOf(Math.floor(at / 2)),
    })}`;
    const row = { org_id, survey_id, contact_id, email, month: '2026-11-01' };
    const earlier = { status: 'failed', reason_code: 'earlier', reason: 'earlier' };
    await db`insert into mails ${db({ ...row, ...earlier, request_id: randomUUID(), blocks_resend: false })}`;
    if (!mail) continue;
    const { status, reason_code = null } = mail;
    const hasEnded = !['claimed', 'sending'].includes(status);
    await db`insert into mails ${db({
      ...row,
      request_id: batch_id,
      status,
      reason_code,
      reason: `mail ${status}`,
      finished_at: hasEnded ? minuteOf(30 + at) : null,
      blocks_resend: status !== 'failed',
    })}`;
  }
  return { orgId: org_id, campaignId: campaign_id };
}

/** What a file and the list say of a contact, in whose order newest come first. */
function wantedOf({ name, status, judged, mail }: Become, at: number, isStopped: boolean) {
  const hasReason = !['waiting', 'sent'].includes(status);
  const stopped = isStopped && name === 'not-claimed';
  const ended =
    status === 'waiting' ? null : mail ? minuteOf(30 + at) : minuteOf(Math.floor(at / 2));
  const reason = judged ? `judged ${judged}` : `mail ${mail?.status}`;
  return {
    email: `${name}@people.test`,
    status,
    at: ended?.toISOString() ?? null,
    reason: stopped ? 'the campaign was stopped before this mail' : hasReason ? reason : null,
    reason_code: stopped ? 'stopped' : hasReason ? (judged ?? mail?.reason_code ?? null) : null,
  };
}

const byEmail = (a: { email: string }, b: { email: string }) => (a.email < b.email ? -1 : 1);

for (const status of ['running', 'stopped']) {
  test(`the results of a campaign that is ${status} are the same in the list and in parts of any size`, async () => {
    const { orgId, campaignId } = await campaignWithAll(status);
    await campaignWithAll(status, orgId);
    const page = { page: 1, limit: 50, ignored: [] };
    const [row] = await db<{ list: string }[]>`
      select ${listResults(db, orgId, { campaignId, page })} as list`;
    const { data, ...paging } = JSON.parse(row!.list) as { data: CampaignResult[] };
    assert.partialDeepStrictEqual(paging, { meta: { total: all.length } });
    const shown = data.map(({ contact_id: _, ...result }) => ({
      ...result,
      at: result.at && new Date(result.at).toISOString(),
    }));
    const wanted = all.map((each, at) => wantedOf(each, at, status === 'stopped'));
    assert.deepEqual(shown.toSorted(byEmail), wanted.toSorted(byEmail));
    const ages = data.map(({ email }) =>
      Math.floor(all.findIndex(({ name }) => email === `${name}@people.test`) / 2),
    );
    assert.deepEqual(
      ages,
      ages.toSorted((a, b) => b - a),
    );

    for (const atMost of [1, 3, 50]) {
      const parts: CampaignResult[] = [];
      for (let after: string | null = null, size = atMost; size === atMost; ) {
        const part = await nextResults(db, { orgId, campaignId, after, atMost });
        parts.push(...part.map(({ row_id: _, ...result }) => result));
        [after, size] = [part.at(-1)?.row_id ?? null, part.length];
        assert.ok(parts.length <= all.length);
      }
      assert.deepEqual(parts, data);
    }
  });
}

async function resultsOf(orgId: string, campaignId: string, status?: Become['status']) {
  const page = { page: 1, limit: 50, ignored: [] };
  const [row] = await db<{ list: string }[]>`
    select ${listResults(db, orgId, { campaignId, page, status })} as list`;
  const { data } = JSON.parse(row!.list) as { data: CampaignResult[] };
  return new Map(data.map((result) => [result.email.split('@')[0]!, result.status]));
}

test('each thing that can become of a contact has its status, in the list and as a filter', async () => {
  const { orgId, campaignId } = await campaignWithAll();
  await campaignWithAll('running', orgId);
  const listed = await resultsOf(orgId, campaignId);
  assert.deepEqual(
    Object.fromEntries(listed),
    Object.fromEntries(all.map(({ name, status }) => [name, status])),
  );
  for (const status of resultStatuses) {
    const found = await resultsOf(orgId, campaignId, status);
    const expected = all.filter((each) => each.status === status).map(({ name }) => name);
    assert.deepEqual([...found.keys()].toSorted(), expected.toSorted(), status);
  }
});

type Counted = { sent: number; blocked: number; failed: number } | null;

/** A batch of two mails as it was counted, so many minutes ago, what its mails are by now, and what a sweep makes of it. */
const batches: { what: string; was: Counted; minutes: number; mails: string[]; is: Counted }[] = [
  {
    what: 'was not counted, and whose mails have ended',
    was: null,
    minutes: 0,
    mails: ['sent', 'unknown'],
    is: { sent: 1, blocked: 0, failed: 1 },
  },
  {
    what: 'was not counted, and has lost a mail with its contact',
    was: null,
    minutes: 0,
    mails: ['sent'],
    is: { sent: 1, blocked: 1, failed: 0 },
  },
  ...['claimed', 'sending'].map((open) => ({
    what: `was not counted, and has a mail that is ${open}`,
    was: null,
    minutes: 0,
    mails: ['sent', open],
    is: null,
  })),
  {
    what: 'failed lately, and whose mail became sent',
    was: { sent: 1, blocked: 0, failed: 1 },
    minutes: 9.5,
    mails: ['sent', 'sent'],
    is: { sent: 2, blocked: 0, failed: 0 },
  },
  {
    what: 'failed long ago, and whose mail became sent',
    was: { sent: 1, blocked: 0, failed: 1 },
    minutes: 10.5,
    mails: ['sent', 'sent'],
    is: { sent: 1, blocked: 0, failed: 1 },
  },
  {
    what: 'ended lately with all mails sent, and has lost one with its contact',
    was: { sent: 2, blocked: 0, failed: 0 },
    minutes: 1,
    mails: ['sent'],
    is: { sent: 2, blocked: 0, failed: 0 },
  },
  {
    what: 'failed lately, and whose mail is open again',
    was: { sent: 1, blocked: 0, failed: 1 },
    minutes: 1,
    mails: ['sent', 'claimed'],
    is: { sent: 1, blocked: 0, failed: 1 },
  },
];
for (const { what, was, minutes, mails, is } of batches) {
  test(`a sweep counts a batch of a paused campaign that ${what}: ${is ? Object.values(is) : 'not yet'}`, async () => {
    const org_id = await makeOrganization(db);
    const of = { org_id, survey_id: await makeSurvey(db, org_id) };
    const { id: campaign_id } = one(
      await db<{ id: string }[]>`
        insert into campaigns ${db({ ...of, name: 'All', status: 'paused' })} returning id`,
    );
    const id = randomUUID();
    const ended_at = was && new Date(Date.now() - minutes * 60_000);
    await db`insert into campaign_batches ${db({ id, org_id, campaign_id, mails: 2, ended_at, ...was })}`;
    for (const [at, status] of mails.entries()) {
      const email = `p${at}@people.test`;
      const contact_id = await makeContact(db, of, { email });
      const mail = { ...of, contact_id, email, request_id: id, month: '2026-11-01', status };
      await db`insert into mails ${db(mail)}`;
    }
    await sweepCampaigns({ db });
    const [row] = await db`
      select sent, blocked, failed, ended_at from campaign_batches where id = ${id}`;
    const { ended_at: endedAt, ...counted } = row!;
    assert.deepEqual(counted, is ?? { sent: null, blocked: null, failed: null });
    if (was) assert.deepEqual(endedAt, ended_at);
    else assert.equal(endedAt !== null, is !== null);
  });
}
