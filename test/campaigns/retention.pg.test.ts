import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { deleteOldResults } from '../../src/campaigns/queries.ts';
import { inTransaction, one, type Sql } from '../../src/lib/db/db.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const days = 30;

type Campaign = { over: object; age: string | null; openBatch?: true; results?: number };

/** `age` is the time since the results expired. */
const campaigns: Record<string, Campaign> = {
  'older than the days': { over: { status: 'finished' }, age: '1 millisecond' },
  'as old as the days': { over: { status: 'finished' }, age: '0' },
  'not over': { over: { status: 'running' }, age: null },
  'with a mail that has no outcome': {
    over: { status: 'stopped' },
    age: '1 day',
    openBatch: true,
  },
  'what a survey does by itself': {
    over: { status: 'finished', kind: 'asking', after_days: 1 },
    age: '1 day',
  },
};

async function addCampaigns(tx: Sql) {
  const org_id = await makeOrganization(tx);
  const of = { org_id, survey_id: await makeSurvey(tx, org_id) };
  for (const [name, { over, age, openBatch }] of Object.entries(campaigns)) {
    const { id: campaign_id } = one(
      await tx<{ id: string }[]>`
        insert into campaigns ${tx({ ...of, name, ...over })} returning id`,
    );
    await tx`
      update campaigns set finished_at = now() - make_interval(days => ${days}) - ${age}::interval
      where id = ${campaign_id}`;
    const contact_id = await makeContact(tx, of);
    await tx`insert into campaign_contacts ${tx({ ...of, campaign_id, contact_id })}`;
    const ended = { sent: 1, blocked: 0, failed: 0, ended_at: new Date(0) };
    const batch = { id: randomUUID(), org_id, campaign_id, mails: 1 };
    await tx`insert into campaign_batches ${tx({ ...batch, ...(openBatch ? {} : ended) })}`;
  }
  return org_id;
}

const left = async (tx: Sql, orgId: string) =>
  (
    await tx<{ name: string }[]>`
      select g.name from campaign_contacts c join campaigns g on g.id = c.campaign_id
      where c.org_id = ${orgId}`
  )
    .map(({ name }) => name)
    .sort();

test('deletes old results of finished campaigns only', async () => {
  await inTransaction(db, async (tx) => {
    const [ours, theirs] = [await addCampaigns(tx), await addCampaigns(tx)];
    assert.equal(await deleteOldResults(tx, ours, { days, atMost: 100 }), 1);
    const [, ...young] = Object.keys(campaigns);
    assert.deepEqual(await left(tx, ours), young.sort());
    assert.deepEqual(await left(tx, theirs), Object.keys(campaigns).sort());
  });
});
