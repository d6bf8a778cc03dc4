import type { Secrets } from '../../../src/lib/crypto/secrets.ts';
import type { Sql } from '../../../src/lib/db/db.ts';
import { spellSecret } from '../../../src/webhooks/sign.ts';
import { addDeliveries, type DeliveryFields } from '../../support/make/delivery-rows.ts';
import { ago, ahead, id, idOfTime } from './names.ts';
import { full } from './organizations.ts';

type Tools = { secrets: Pick<Secrets, 'seal'> };

/** A webhook that is well, one that fails, one that is switched off; deliveries that ended in each way. */
export async function addWebhooks(sql: Sql, tools: Tools) {
  await addWebhook(sql, tools, {
    ...{ id: id('webhook-well'), url: 'https://hooks.example.com/feedback?team=a&b=1' },
    ...{ events: ['response.received', 'summary.generated'], description: 'Help desk' },
    ...{ last_delivery_at: ago(0, 1), created_at: ago(100) },
    previous_secret_until: ahead(1),
  });
  await addWebhook(sql, tools, {
    ...{ id: id('webhook-failing'), url: 'https://crm.example.org/hook', failure_count: 4 },
    ...{ events: ['detractor.detected'], retries: 'extended', created_at: ago(50) },
    ...{ last_delivery_at: ago(2), undelivered_since: ago(1) },
  });
  await addWebhook(sql, tools, {
    ...{ id: id('webhook-off'), url: 'https://old.example.net/', active: false, failure_count: 10 },
    ...{ events: ['survey.completed'], created_at: ago(200), deactivated_at: ago(6) },
    deactivated_reason: '10 deliveries in a row failed, the last with: status 503',
  });
  await addDeliveries(sql, ...deliveries());
  await addAttempts(sql);
}

async function addWebhook(
  sql: Sql,
  { secrets }: Tools,
  webhook: { id: string; [field: string]: unknown },
) {
  const secret = secrets.seal({ owner: full.id, id: webhook.id }, spellSecret(Buffer.alloc(32, 3)));
  const previous = webhook['previous_secret_until'] ? { previous_secret: secret } : {};
  const times = { undelivered_since: ago(0), updated_at: ago(1) };
  await sql`insert into webhooks ${sql({ ...times, ...previous, ...webhook, org_id: full.id, secret } as never)}`;
}

const failing = 'webhook-failing';

function deliveries(): DeliveryFields[] {
  const made = [
    { name: 'delivered', status: 'delivered', attempts: 1, status_code: 200, duration_ms: 84 },
    { name: 'test', event: 'webhook.test', status: 'delivered', attempts: 1, status_code: 204 },
    { name: 'failed', webhook: failing, status: 'failed', attempts: 2, status_code: 503 },
    { name: 'unreached', webhook: failing, status: 'failed', attempts: 1 },
    { name: 'retried', webhook: failing, status: 'pending', attempts: 2, status_code: 500 },
    { name: 'first', status: 'pending', attempts: 0 },
    { name: 'skipped', webhook: 'webhook-off', status: 'skipped', attempts: 0 },
    { name: 'replayed', webhook: failing, status: 'delivered', attempts: 1, is_replay: true },
    { name: 'again', status: 'delivered', attempts: 1, message_id: id('message') },
  ];
  return made.map(({ name, webhook = 'webhook-well', ...fields }, at) => ({
    ...{ org_id: full.id, webhook_id: id(webhook), created_at: ago(at, 1) },
    id: idOfTime(`delivery-${name}`, ago(at, 1)),
    ...{ event: webhook === failing ? 'detractor.detected' : 'response.received' },
    body: JSON.stringify({ version: '1', event: name, data: { score: 9, comment: 'a <b> & c' } }),
    ...(name === 'failed' && { response_body: '<h1>503 Service Unavailable</h1>' }),
    ...(name === 'delivered' && { response_body: 'ok', traceparent: trace }),
    delivered_at: fields.status === 'delivered' ? ago(at) : null,
    next_attempt_at: fields.status === 'pending' ? ahead(at) : null,
    ...fields,
  }));
}

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

async function addAttempts(sql: Sql) {
  const attempts = [
    { of: 'failed', at: 2, number: 1, error: 'no answer within 10 s', duration_ms: 10_000 },
    { of: 'failed', at: 2, number: 2, status_code: 503, duration_ms: 340, response_body: 'busy' },
    { of: 'unreached', at: 3, number: 1, error: 'connection refused', duration_ms: 12 },
    { of: 'retried', at: 4, number: 1, status_code: 500, duration_ms: 90, response_body: '' },
    { of: 'retried', at: 4, number: 2, status_code: 500, duration_ms: 95, response_body: 'oops' },
  ];
  for (const { of, at, ...attempt } of attempts) {
    await sql`insert into delivery_attempts ${sql({
      ...{ org_id: full.id, webhook_id: id(failing), status_code: null, response_body: null },
      ...{ delivery_id: idOfTime(`delivery-${of}`, ago(at, 1)), error: null, ...attempt },
      at: new Date(ago(at, 1).getTime() + attempt.number * 60_000),
    })}`;
  }
}
