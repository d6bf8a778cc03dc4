import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../src/operations/findings.ts';
import { testDatabase } from '../support/probe/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

const { url } = await testDatabase();
const environment = (over: Record<string, string> = {}) => ({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  ...over,
});
/** Requests per minute without a working key. */
const strangersLimit = 60;

/** Statuses of requests without a key whose headers claim these addresses. */
async function askFrom(address: string, clients: readonly string[]) {
  const answers = await Promise.all(
    clients.map((client) =>
      fetch(`${address}/api/v1/surveys`, { headers: { 'X-Forwarded-For': client } }),
    ),
  );
  return answers.map(({ status }) => status);
}

const many = (count: number, client: string) => Array.from({ length: count }, () => client);
const warningsOf = async (address: string) =>
  ((await (await fetch(`${address}/readyz`)).json()) as { warnings?: Record<string, string> })
    .warnings;

test('clients behind a trusted proxy have their own limits', async () => {
  const service = startService(environment({ ASKBACK_TRUSTED_PROXIES: '127.0.0.0/8, ::1/128' }));
  const address = addressIn(await service.ready());
  const statuses = await askFrom(address, many(2 * strangersLimit + 1, '198.51.100.1'));
  assert.ok(statuses.includes(429), 'one client is limited');
  assert.deepEqual(await askFrom(address, ['198.51.100.2']), [401], 'another is not');
  assert.equal((await warningsOf(address))?.['proxy'], undefined);
  assert.equal(await service.stop(), 0);
});

test('/readyz and doctor warn about an untrusted proxy', async () => {
  const PORT = String(await freePort());
  const service = startService(environment({ PORT }));
  const address = addressIn(await service.ready());
  const clients = many(2 * strangersLimit + 1, '').map((_, place) => `198.51.100.${place}`);
  assert.ok((await askFrom(address, clients)).includes(429));
  assert.match((await warningsOf(address))?.['proxy'] ?? '', /ASKBACK_TRUSTED_PROXIES/);
  const { stdout } = await askback(['doctor', '--json'], environment({ PORT }));
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  assert.equal(checks.find(({ name }) => name === 'proxy')?.status, 'warn', stdout);
  const said = service.stderr.lines.filter((line) => line.includes('which is not trusted'));
  assert.equal(said.length, 1);
  assert.match(said[0]!, /a proxy at 127\.0\.0\.1,/);
  assert.equal(await service.stop(), 0);
});

test('local callers need a token once there is a public URL', async () => {
  const service = startService(
    environment({ ASKBACK_PUBLIC_URL: 'https://feedback.example.com', HOST: '127.0.0.1' }),
  );
  const address = addressIn(await service.ready());
  assert.equal((await fetch(`${address}/metrics`)).status, 403);
  assert.equal((await fetch(`${address}/mailbox`)).status, 403);
  const [link = ''] = /http:\S+\/mailbox\?secret=\S+/.exec(service.stderr.lines.join('\n')) ?? [];
  const opened = await fetch(link, { redirect: 'manual' });
  assert.equal(opened.status, 303);
  const Cookie = opened.headers.get('Set-Cookie')?.split(';')[0] ?? '';
  assert.equal((await fetch(`${address}/mailbox`, { headers: { Cookie } })).status, 200);
  assert.equal(await service.stop(), 0);
});
