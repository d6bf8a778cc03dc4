import type { Sql } from '../lib/db/db.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { type HistoryRow, listHistory } from '../sends/history.queries.ts';
import { listDeliveriesOf } from './timeline.queries.ts';

/** One step of what happened between an organization and an address. */
export type TimelineEntry = {
  at: Date;
  what: HistoryRow['what'] | 'delivered' | 'not_delivered';
  survey_id: string | null;
  survey_name: string | null;
  reason_code: string | null;
  reason: string | null;
  trace_id: string | null;
  response_id: string | null;
  /** Where an event of the answer went, or was to go. */
  webhook_id: string | null;
  delivery_id: string | null;
};

/** Everything that happened between an organization and an address, oldest first. */
export async function timelineOf(sql: Sql, orgId: string, email: string): Promise<TimelineEntry[]> {
  const key = addressKey(email);
  const [history, deliveries] = await Promise.all([
    listHistory(sql, orgId, key),
    listDeliveriesOf(sql, orgId, key),
  ]);
  const delivered = deliveries.map(
    ({ event, status, url, ...delivery }): TimelineEntry => ({
      ...delivery,
      what: status === 'delivered' ? 'delivered' : 'not_delivered',
      reason_code: status === 'delivered' ? null : status,
      reason: `${event} to ${url}`,
      trace_id: null,
      response_id: null,
    }),
  );
  const own = history.map((row) => ({ ...row, webhook_id: null, delivery_id: null }));
  return [...own, ...delivered].sort((one, other) => one.at.getTime() - other.at.getTime());
}
