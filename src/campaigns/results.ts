import type { Sql } from '../lib/db/db.ts';
import { csvLine } from '../lib/export/csv-line.ts';
import { type CampaignResult, nextResults } from './results.queries.ts';

const atOnce = 1000;
const head = ['email', 'status', 'reason', 'reason_code', 'at'];

/** What became of each contact as CSV, piece by piece: no connection is held while a slow client reads. */
export async function* exportResults(sql: Sql, orgId: string, campaignId: string) {
  yield csvLine(head);
  for await (const results of eachResults(sql, orgId, campaignId)) {
    yield results.map(lineOf).join('');
  }
}

const lineOf = ({ email, status, reason, reason_code, at }: CampaignResult) =>
  csvLine([email, status, reason, reason_code, at]);

export async function allResults(sql: Sql, orgId: string, campaignId: string) {
  const all: CampaignResult[] = [];
  for await (const results of eachResults(sql, orgId, campaignId)) all.push(...results);
  return all;
}

async function* eachResults(sql: Sql, orgId: string, campaignId: string) {
  for (let after: string | null = null; ; ) {
    const rows: (CampaignResult & { row_id: string })[] = await nextResults(sql, {
      orgId,
      campaignId,
      after,
      atMost: atOnce,
    });
    yield rows.map(({ row_id: _, ...result }) => result);
    if (rows.length < atOnce) return;
    after = rows.at(-1)!.row_id;
  }
}
