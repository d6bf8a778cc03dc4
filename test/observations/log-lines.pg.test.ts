import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();

/** Refuses the first delivery of each event and takes the second. */
const seen = new Set<unknown>();
const receiver = createServer((request, response) => {
  const id = request.headers['webhook-id'];
  response.statusCode = seen.has(id) ? 200 : 503;
  seen.add(id);
  request.resume().on('end', () => response.end('thank you, Hermine'));
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());

const service = startService({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  LOG_LEVEL: 'debug',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
});
const address = addressIn(await service.ready());

const client = await makeClient(db, { name: 'Quaffle Works' });
const survey = await makeSurvey(db, client.id, { question_text: 'How was the Nimbus?' });
const post = (path: string, body: object, headers = client.write) =>
  fetch(`${address}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', 'X-Request-Id': 'walk-1' },
    body: JSON.stringify(body),
  });

const hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?sesame=opensesame77`;
const hook = (await (
  await post('/api/webhooks', { url: hookUrl, events: ['response.received'] })
).json()) as { id: string; secret: string };
const contacts = [{ email: 'hermine.granger@quidditch.test', name: 'Hermine' }];
const sent = await post(`/api/v1/surveys/${survey}/send`, { contacts });
const { data } = (await sent.json()) as { data: { contacts: { token: string }[]; sent: number } };
const { token } = data.contacts[0]!;
await post(`/s/${token}`, { score: 3, comment: 'The broomstick splintered' }, {} as never);
await post('/api/v1/nowhere', {}, { 'X-API-Key': 'ask_live_unknown' } as never);
await post(`/s/${'x'.repeat(30)}`, { score: 'much' }, {} as never);
await until('the retry is delivered', async () => {
  const [row] = await db`select from deliveries where status = 'delivered'`;
  return row;
});
await service.stop();

type Line = Record<string, unknown>;
const written = service.stderr.lines;
const lines = written
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as Line);
const named = (msg: string) => lines.filter((line) => line['msg'] === msg);

test('each request logs one line, with its route instead of its path', () => {
  const requests = named('request').map(({ method, route, status }) => [method, route, status]);
  assert.deepEqual(requests, [
    ['POST', '/api/webhooks', 201],
    ['POST', '/api/v1/surveys/:id/send', 200],
    ['POST', '/s/:token', 201],
    ['POST', 'none', 401],
    ['POST', '/s/:token', 404],
  ]);
});

test('the line of a request has its id and organization', () => {
  const [{ request_id, org_id }] = named('request') as [Line];
  assert.deepEqual([request_id, org_id], ['walk-1', client.id]);
});

test('each delivery attempt logs one line', () => {
  const attempts = named('delivery').map(({ attempt, outcome, status, webhook_id, event }) => [
    attempt,
    outcome,
    status,
    webhook_id,
    event,
  ]);
  assert.deepEqual(attempts, [
    [1, 'retry', 503, hook.id, 'response.received'],
    [2, 'delivered', 200, hook.id, 'response.received'],
  ]);
});

test('each mail logs one line', () => {
  const [mail, ...others] = named('mail') as [Line, ...Line[]];
  assert.deepEqual([mail['outcome'], mail['attempt'], mail['survey_id']], ['sent', 1, survey]);
  assert.equal(others.length, 0);
});
