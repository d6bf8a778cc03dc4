import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { instruments } from '../../src/observations/instruments.ts';
import { trapField } from '../../src/responses/view/form.tsx';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { scrape } from '../support/probe/scrape.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();

/** `/well` accepts the second delivery of an event, `/dead` none. */
const seen = new Set<unknown>();
const receiver = createServer((request, response) => {
  const id = request.headers['webhook-id'];
  response.statusCode = request.url === '/well' && seen.has(id) ? 200 : 503;
  seen.add(id);
  request.resume().on('end', () => response.end());
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

const rateLimit = 20;
const service = startService({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  ASKBACK_DB_POOL: '20',
  LOG_LEVEL: 'warn',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_RATE_LIMIT: String(rateLimit),
});
const address = addressIn(await service.ready());

const client = await makeClient(db, { name: 'Quaffle Works' });
const email = 'hermine.granger@quidditch.test';
const survey = await makeSurvey(db, client.id, { share_id: 'share-nimbus' });
const other = await makeSurvey(db, client.id, { share_id: 'share-cleansweep', type: 'thumbs' });
const post = async (path: string, body: object, headers: object = client.write) => {
  const answer = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await answer.json()) as unknown;
};

const hook = async (path: string) => {
  const wish = { url: `${receiverUrl}${path}`, events: ['response.received'] };
  return (await post('/api/webhooks', wish)) as { id: string };
};
const [well, dead] = [await hook('/well'), await hook('/dead')];
const contacts = [{ email, name: 'Hermine' }, { email }, { email: 'no-address' }];
const sent = await post(`/api/v1/surveys/${survey}/send`, { contacts });
const { token } = (sent as { data: { contacts: { token: string }[] } }).data.contacts[0]!;
await post(`/s/${token}`, { score: 3, comment: 'The broomstick splintered' }, {});
await post('/f/share-nimbus', { score: 9 }, {});
await post('/f/share-cleansweep', { score: 1 }, {});
await post('/f/share-cleansweep', { score: 1, [trapField]: 'brooms' }, {});
await until('the dead webhook is switched off', async () => {
  const [row] = await db`select from webhooks where id = ${dead.id} and not active`;
  return row;
});
await post('/f/share-cleansweep', { score: 0 }, {});
// A window in the future counts all requests, even when a minute ends.
await db`
  insert into rate_windows (subject, minute, count)
  select 'key:' || id, date_trunc('minute', now()) + interval '2 minutes', 0
  from api_keys
  where org_id = ${client.id} and permission = 'read'`;
for (let i = 0; i <= rateLimit; i++) {
  await fetch(`${address}/api/v1/tags`, { headers: client.read });
}
for (const path of ['/nowhere/a', '/nowhere/b', `/s/${'x'.repeat(30)}`])
  await fetch(address + path);
await until('everything published is counted', async () => {
  const { value } = await scrape(address);
  const over = { channel: 'webhook', outcome: 'delivered' };
  return value('askback_deliveries_total', over) === 4;
});
const { text, series, value } = await scrape(address);
const open = await scrape(address, { Accept: 'application/openmetrics-text' });

for (const { name, kind, help } of instruments) {
  test(`${name} is described and has a value`, () => {
    assert.ok(text.includes(`# TYPE ${name} ${kind}\n# HELP ${name} ${help}\n`));
    const suffix = kind === 'histogram' ? '_count' : '';
    assert.notEqual(value(name + suffix), undefined);
    if (name.endsWith('_seconds')) assert.ok(open.text.includes(`# UNIT ${name} seconds\n`));
  });
}

const expected: [name: string, labels: Record<string, string>, value: number][] = [
  ['askback_mails_total', { status: 'sent', reason: '' }, 1],
  ['askback_mails_total', { status: 'duplicate', reason: 'repeated' }, 1],
  ['askback_mails_total', { status: 'invalid', reason: 'invalid_email' }, 1],
  ['askback_delivery_attempts_total', { channel: 'mail', outcome: 'delivered' }, 1],
  ['askback_deliveries_total', { channel: 'mail', outcome: 'delivered' }, 1],
  ['askback_delivery_duration_seconds_count', { channel: 'mail' }, 1],
  ['askback_answers_total', { type: 'nps', category: 'detractor' }, 1],
  ['askback_answers_total', { type: 'nps', category: 'promoter' }, 1],
  ['askback_answers_total', { type: 'thumbs' }, 2],
  ['askback_answers_held_total', { reason: 'hidden_field' }, 1],
  ['askback_events_total', { event: 'response.received' }, 4],
  ['askback_events_total', { event: 'detractor.detected' }, 2],
  ['askback_events_total', { event: 'survey.completed' }, 1],
  ['askback_delivery_attempts_total', { channel: 'webhook', outcome: 'retry' }, 7],
  ['askback_delivery_attempts_total', { channel: 'webhook', outcome: 'failed' }, 3],
  ['askback_delivery_attempts_total', { channel: 'webhook', outcome: 'delivered' }, 4],
  ['askback_deliveries_total', { channel: 'webhook', outcome: 'failed' }, 3],
  ['askback_deliveries_total', { channel: 'webhook', outcome: 'skipped' }, 1],
  ['askback_delivery_attempt_duration_seconds_count', { channel: 'webhook' }, 14],
  ['askback_delivery_duration_seconds_count', { channel: 'webhook' }, 7],
  ['askback_webhook_deactivations_total', {}, 1],
  ['askback_webhooks', { state: 'active' }, 1],
  ['askback_webhooks', { state: 'inactive' }, 1],
  ['askback_rate_limited_total', { by: 'key' }, 1],
  ['askback_job_duration_seconds_count', { task: 'sends.mail' }, 1],
  ['askback_job_failures_total', {}, 0],
  ['askback_runner_up', {}, 1],
  ['askback_db_pool_limit', {}, 20],
  ['askback_db_pool_connections', {}, 20],
  ['askback_db_pool_waiting', {}, 0],
  ['askback_runner_restarts_total', {}, 0],
  ['askback_read_replica_up', {}, 0],
  ['askback_read_replica_lag_seconds', {}, 0],
  ['askback_build_info', {}, 1],
  ['askback_ready', {}, 1],
];
for (const [name, labels, number] of expected) {
  test(`${name} ${Object.values(labels).join(' ')} is ${number}`, () => {
    assert.equal(value(name, labels), number);
  });
}

test('the duration of a retried delivery counts from its event', () => {
  const sum = value('askback_delivery_duration_seconds_sum', { channel: 'webhook' });
  assert.ok(sum! > 7 * 5 && sum! < 7 * 60, `${sum} s`);
});

const requests = series.filter(({ name }) => name === 'http_server_request_duration_seconds_count');

test('requests are counted by route, method and status', () => {
  const found = requests.map(({ labels, value: count }) => {
    const {
      http_request_method: method,
      http_route: route,
      http_response_status_code: status,
    } = labels;
    return `${method} ${route} ${status}: ${count}`;
  });
  for (const line of [
    'POST /api/webhooks 201: 2',
    'POST /api/v1/surveys/:id/send 200: 1',
    'POST /s/:token 201: 1',
    'GET /s/:token 404: 1',
    'POST /f/:share_id 201: 4',
    `GET /api/v1/tags 200: ${rateLimit}`,
    'GET /api/v1/tags 429: 1',
    'GET none 404: 2',
  ]) {
    assert.ok(found.includes(line), `${line} is not among\n${found.join('\n')}`);
  }
});

test('no label names an organization', () => {
  const values = series.flatMap(({ labels }) => Object.values(labels));
  const secrets = [
    token,
    client.id,
    survey,
    other,
    well.id,
    dead.id,
    'share-',
    'Quaffle',
    'Hermine',
  ];
  for (const label of values) {
    assert.doesNotMatch(label, /[0-9a-f]{8}-[0-9a-f]{4}-|@|quidditch|broomstick|127\.0\.0\.1/i);
    for (const secret of secrets) assert.ok(!label.includes(secret), label);
  }
});
