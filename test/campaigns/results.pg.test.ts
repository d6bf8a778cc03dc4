import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  type CampaignResult,
  listResults,
  resultStatuses,
} from '../../src/campaigns/results.queries.ts';
import { one } from '../../src/lib/db/db.ts';
import type { OrgId } from '../../src/org-id.ts';
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

async function campaignWithAll(): Promise<{ orgId: OrgId; campaignId: string }> {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const { id: campaign_id } = one(
    await db<{ id: string }[]>`
      insert into campaigns ${db({ org_id, survey_id, name: 'All', status: 'running' })} returning id`,
  );
  for (const { name, judged, isClaimed, mail } of all) {
    const contact_id = await makeContact(
      db,
      { org_id, survey_id },
      { email: `${name}@people.test` },
    );
    const batch_id = mail || isClaimed ? randomUUID() : null;
    const judgement = { reason_code: judged ?? null, batch_id };
    await db`insert into campaign_contacts ${db({ org_id, survey_id, campaign_id, contact_id, ...judgement })}`;
    if (!mail) continue;
    const { status, reason_code = null } = mail;
    const row = {
      org_id,
      survey_id,
      contact_id,
      request_id: batch_id,
      email: `${name}@people.test`,
    };
    const outcome = {
      status,
      reason_code,
      blocks_resend: status !== 'failed',
      month: '2026-11-01',
    };
    await db`insert into mails ${db({ ...row, ...outcome })}`;
  }
  return { orgId: org_id as OrgId, campaignId: campaign_id };
}

async function resultsOf(orgId: OrgId, campaignId: string, status?: Become['status']) {
  const page = { page: 1, limit: 50, ignored: [] };
  const [row] = await db<{ list: string }[]>`
    select ${listResults(db, orgId, { campaignId, page, status })} as list`;
  const { data } = JSON.parse(row!.list) as { data: CampaignResult[] };
  return new Map(data.map((result) => [result.email.split('@')[0]!, result.status]));
}

test('each thing that can become of a contact has its status, in the list and as a filter', async () => {
  const { orgId, campaignId } = await campaignWithAll();

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
