import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { serve } from '@hono/node-server';
import { createLog } from '../../src/lib/log/log.ts';
import { metricsApp } from '../../src/observations/metrics.ts';

const token = 'correct-horse';
const log = createLog({ level: 'silent' });
const families = async () => [
  { name: 'tea_cups', kind: 'gauge' as const, help: 'Cups.', samples: [{ labels: {}, value: 1 }] },
];
type Given = { token: string | null; ownAddress: boolean; trustsLocal?: boolean };
const appFor = ({ trustsLocal = true, ...access }: Given) =>
  metricsApp(log, {
    families,
    access: { ...access, trustsLocal, settings: 'ASKBACK_METRICS_TOKEN' },
  });

/** Sends a request from this machine, with headers such as `Host` that `fetch` does not allow. */
async function ask(
  app: ReturnType<typeof appFor>,
  headers: Record<string, string>,
  method = 'GET',
) {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  after(() => server.close());
  const { port } = server.address() as { port: number };
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/metrics',
    method,
    headers,
    agent: false,
  });
  const [answer] = await once(sent.end(), 'response');
  let body = '';
  for await (const chunk of answer) body += chunk;
  return { status: answer.statusCode as number, headers: answer.headers, body };
}

const here = {};
const proxied = { 'X-Forwarded-For': '203.0.113.9' };
const rebound = { Host: 'evil.test' };
const withToken = (given: string) => ({ ...proxied, Authorization: given });

type Row = [caller: string, headers: Record<string, string>, ...statuses: number[]];
/** Statuses without and with a token set: on the main address, then on a separate address. */
const table: Row[] = [
  ['a caller on this machine', here, 200, 401, 200, 401],
  ['one with another token', { Authorization: 'Bearer wrong-horse' }, 200, 401, 200, 401],
  ['a proxy on this machine', proxied, 403, 401, 200, 401],
  ['a proxy that sends Forwarded', { Forwarded: 'for=203.0.113.9' }, 403, 401, 200, 401],
  ['a page under a foreign name that resolves here', rebound, 403, 401, 200, 401],
  ['a caller with the token', withToken(`Bearer ${token}`), 403, 200, 200, 200],
  ['a caller that spells the scheme otherwise', withToken(`bearer  ${token} `), 403, 200, 200, 200],
  ['a caller with another token', withToken('Bearer wrong-horse'), 403, 401, 200, 401],
  ['a caller with the beginning of the token', withToken('Bearer correct'), 403, 401, 200, 401],
  ['a caller with more than the token', withToken(`Bearer ${token}s`), 403, 401, 200, 401],
  ['a caller with the token as a password', withToken(`Basic ${token}`), 403, 401, 200, 401],
  ['a caller with only the scheme', withToken('Bearer'), 403, 401, 200, 401],
];
for (const [caller, headers, ...statuses] of table) {
  test(`${caller}: main ${statuses.slice(0, 2)}, own address ${statuses.slice(2)}`, async () => {
    const places = [false, true].flatMap((ownAddress) =>
      [null, token].map((given) => appFor({ token: given, ownAddress })),
    );
    const answers = await Promise.all(places.map((app) => ask(app, headers)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      statuses,
    );
    for (const { status, body } of answers) assert.equal(body.includes('tea_cups'), status === 200);
  });
}

for (const [ownAddress, token, status] of [
  [false, null, 403],
  [false, 'correct-horse', 401],
  [true, null, 200],
  [true, 'correct-horse', 401],
] as const) {
  const where = ownAddress ? 'its own address' : 'the main address';
  test(`behind a proxy without headers, ${where} answers ${status} ${token ? 'with' : 'without'} a token set`, async () => {
    const answer = await ask(appFor({ token, ownAddress, trustsLocal: false }), here);
    assert.equal(answer.status, status);
  });
}

test('a refusal names the setting for access, or the problem of the token', async () => {
  const closed = await ask(appFor({ token: null, ownAddress: false }), proxied);
  assert.match(JSON.parse(closed.body).error, /ASKBACK_METRICS_TOKEN/);
  const locked = await ask(appFor({ token, ownAddress: false }), withToken('Bearer wrong-horse'));
  assert.equal(JSON.parse(locked.body).error, 'the bearer token for metrics is missing or wrong');
  assert.equal(locked.headers['www-authenticate'], 'Bearer realm="metrics"');
});
