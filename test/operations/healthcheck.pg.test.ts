import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { fetchHealth } from '../../src/operations/health.ts';
import { proxyTo } from '../support/fakes/database-proxy.ts';
import { testDatabase } from '../support/probe/database.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

const { url } = await testDatabase();
const proxy = await proxyTo(url);
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, HOST: '0.0.0.0' };
const service = startService({ ...environment, DATABASE_URL: proxy.url, PORT: '0' });
const { port } = new URL(addressIn(await service.ready()));
const check = (words: string[], over: Record<string, string> = {}) =>
  askback(['healthcheck', ...words], { ...environment, PORT: port, ...over });

test('healthcheck asks a wildcard address on this machine', async () => {
  const { code, stdout } = await check([]);
  assert.equal(code, 0);
  assert.equal(stdout, `http://127.0.0.1:${port}/healthz responded with 200: {"status":"ok"}\n`);
});

test('healthcheck finds PORT=0 by the service record', async () => {
  const { code, stdout } = await check(['--json'], { PORT: '0' });
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).url, `http://127.0.0.1:${port}/healthz`);
});

test('healthcheck cannot find PORT=0 with a public URL', async () => {
  const { code, stderr } = await check([], {
    PORT: '0',
    ASKBACK_PUBLIC_URL: 'https://feedback.example.com',
  });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    'askback: with PORT=0 the address of the service is unknown: set PORT to a fixed one\n',
  );
});

test('healthcheck fails with --ready only while the database is down', async () => {
  await proxy.cut();
  assert.equal((await check([])).code, 0);
  const { code, stdout } = await check(['--ready']);
  assert.equal(code, 1);
  assert.match(stdout, /responded with 503: .*"database":"cannot be reached"/);
  await proxy.mend();
});

test('healthcheck reports a silent process as unhealthy', async () => {
  const server = createServer(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const silent = `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`;
  assert.deepEqual(await fetchHealth(silent), {
    status: null,
    sentence: `${silent} does not respond within 3 seconds`,
  });
});
