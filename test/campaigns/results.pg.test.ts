import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { CampaignResult } from '../../src/campaigns/api.ts';
import { exportResults, listResults, resultStatuses } from '../../src/campaigns/results.ts';
import { one } from '../../src/lib/db/db.ts';
import { csvLine } from '../../src/lib/export/export.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Become = { name: string; status: (typeof resultStatuses)[number] } & Partial<{
  judged: string;
  isClaimed: boolean;
  mail: { status: string; reason_code?: string };
}>;

/** Every outcome of a contact with its result. */
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

/** Adds two at a time, each with an earlier failed mail of the same survey. */
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
  test(`results of a ${status} campaign are the same in list and export`, async () => {
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

    let csv = '';
    for await (const part of exportResults(db, orgId, campaignId)) csv += part;
    const lines = data.map(({ email, status, reason, reason_code, at }) =>
      csvLine([email, status, reason, reason_code, at]),
    );
    assert.equal(csv, csvLine(['email', 'status', 'reason', 'reason_code', 'at']) + lines.join(''));
  });
}

async function resultsOf(orgId: string, campaignId: string, status: Become['status']) {
  const page = { page: 1, limit: 50, ignored: [] };
  const [row] = await db<{ list: string }[]>`
    select ${listResults(db, orgId, { campaignId, page, status })} as list`;
  const { data } = JSON.parse(row!.list) as { data: CampaignResult[] };
  return new Map(data.map((result) => [result.email.split('@')[0]!, result.status]));
}

test('results can be filtered by status', async () => {
  const { orgId, campaignId } = await campaignWithAll();
  await campaignWithAll('running', orgId);
  for (const status of resultStatuses) {
    const found = await resultsOf(orgId, campaignId, status);
    const expected = all.filter((each) => each.status === status).map(({ name }) => name);
    assert.deepEqual([...found.keys()].toSorted(), expected.toSorted(), status);
  }
});
