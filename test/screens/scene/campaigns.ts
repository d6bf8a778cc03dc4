import type { Sql } from '../../../src/lib/db/db.ts';
import { ago, ahead, id } from './names.ts';
import { full } from './organizations.ts';

/** A campaign that stands in each way, and what a survey does by itself. */
export async function addCampaigns(sql: Sql) {
  await addCampaign(sql, 'scheduled', { send_at: ahead(2), next_at: ahead(2), per_hour: 60 });
  await addCampaign(sql, 'running', {
    ...{ total: 12, duplicates: 2, invalid: 1, waiting: 1, per_hour: 120, started_at: ago(0, 1) },
    ...{ next_at: ahead(1), next_mail_at: ahead(1) },
  });
  await addCampaign(sql, 'paused', { total: 5, waiting: 5, started_at: ago(3) });
  await addCampaign(sql, 'finished', { total: 4, started_at: ago(6), finished_at: ago(5) });
  await addCampaign(sql, 'stopped', {
    ...{ total: 9, started_at: ago(8), finished_at: ago(7), reason: null },
  });
  await addCampaign(sql, 'refused', {
    ...{ finished_at: ago(9), reason: 'the send limit of the month would be exceeded' },
  });
  await addCampaign(sql, 'running', {
    ...{ id: id('campaign-asking'), kind: 'asking', after_days: 2, total: 3, started_at: ago(20) },
  });
  await addCampaign(sql, 'running', {
    ...{ id: id('campaign-reminder'), kind: 'reminder', reminder: 1, after_days: 3 },
    ...{ total: 1, started_at: ago(20) },
  });
  await addResults(sql);
}

const order = ['running', 'scheduled', 'paused', 'finished', 'stopped', 'refused'];

async function addCampaign(sql: Sql, status: string, over: Record<string, unknown>) {
  await sql`insert into campaigns ${sql({
    ...{ id: id(`campaign-${status}`), org_id: full.id, survey_id: id('survey-nps'), status },
    ...{ name: `Spring ${status}`, month: '2026-05-01', created_at: ago(order.indexOf(status)) },
    ...over,
  })}`;
}

const results = [
  ...[{ of: 'ada' }, { of: 'cora' }, { of: 'dan' }, { of: 'finn' }],
  ...[
    { of: 'eva', code: 'bounced' },
    { of: 'layla', code: 'already_sent' },
  ],
  ...[{ of: 'nameless', isWaiting: true }],
];

async function addResults(sql: Sql) {
  const campaign_id = id('campaign-running');
  await sql`insert into campaign_batches ${sql({
    ...{ id: id('batch'), org_id: full.id, campaign_id, mails: 8, claimed_at: ago(0, 1) },
  })}`;
  await sql`insert into campaign_batches ${sql({
    ...{ id: id('batch-ended'), org_id: full.id, campaign_id: id('campaign-finished'), mails: 4 },
    ...{ sent: 3, blocked: 0, failed: 1, claimed_at: ago(6), ended_at: ago(5) },
  })}`;
  for (const [at, { of, code, isWaiting }] of results.entries()) {
    await sql`insert into campaign_contacts ${sql({
      ...{ id: id(`result-${of}`), org_id: full.id, survey_id: id('survey-nps'), campaign_id },
      ...{ contact_id: id(of), batch_id: code || isWaiting ? null : id('batch') },
      ...{ reason_code: code ?? null, reason: code ? 'a rule in words' : null },
      created_at: ago(0, at),
    })}`;
  }
  for (const of of ['ben', 'gil']) {
    await sql`insert into campaign_contacts ${sql({
      ...{ id: id(`stopped-${of}`), org_id: full.id, survey_id: id('survey-nps') },
      ...{ campaign_id: id('campaign-stopped'), contact_id: id(of), created_at: ago(8) },
    })}`;
  }
}
