import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addressIn, askback, startService } from './support/processes/program.ts';

const home = mkdtempSync(join(tmpdir(), 'askback-serve-'));
chmodSync(home, 0o755); // lets the account of Postgres in, when the test runs as root
after(() => rmSync(home, { recursive: true, force: true }));
const environment = { ASKBACK_DATA_DIR: join(home, 'data'), PORT: '0' };
const postmasterFile = join(home, 'data/cluster/postmaster.pid');
const postmaster = () => Number(readFileSync(postmasterFile, 'utf8').split('\n')[0]);

test('commands work on the embedded Postgres with and without a service', async () => {
  const made = await askback(['org', 'create', '--name', 'Nord', '--json'], environment);
  assert.equal(made.code, 0, made.stderr);

  const service = startService(environment);
  const address = addressIn(await service.ready());
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  const meanwhile = await askback(['org', 'list', '--json'], environment);
  assert.deepEqual(JSON.parse(meanwhile.stdout), [JSON.parse(made.stdout)]);

  const second = await askback(['serve'], environment);
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    /^askback: ASKBACK_DATA_DIR: another process already serves from .*: stop it, or use another folder\n$/m,
  );

  assert.equal(await service.stop(), 0);
  const afterwards = await askback(['doctor', '--json'], environment);
  const { ok, checks } = JSON.parse(afterwards.stdout);
  assert.ok(ok);
  assert.deepEqual(checks.map(({ name }: { name: string }) => name).slice(-4), [
    'secret key',
    'public URL',
    'disk',
    'SMTP',
  ]);
});

test('a service stops gracefully when its output is closed', async () => {
  const service = startService(environment);
  service.child.stdout!.destroy();

  assert.equal(await service.exited, 0);
  assert.match(service.stderr.lines.at(-1) ?? '', /^stopping on the end of its output: /);
  assert.ok(!existsSync(postmasterFile));
});

test('the service exits with 1 when its Postgres dies, and loses no data', async () => {
  const service = startService(environment);
  await service.ready();

  process.kill(postmaster(), 'SIGKILL');

  assert.equal(await service.exited, 1);
  assert.match(service.stderr.lines.at(-1) ?? '', /^askback: the embedded Postgres has ended/);
  const list = await askback(['org', 'list', '--json'], environment);
  assert.equal(JSON.parse(list.stdout)[0]?.name, 'Nord', list.stderr);
});

test('the service exits when Postgres dies with deliveries in flight', async () => {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const receiver = createServer(async (_request, response) => {
    arrived.resolve();
    await release.promise;
    response.end();
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  after(() => receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const local = {
    ...environment,
    ASKBACK_WEBHOOK_HTTP: 'allow',
    ASKBACK_WEBHOOK_ALLOW: '127.0.0.1/32',
  };
  const demo = JSON.parse((await askback(['demo', '--yes', '--json'], local)).stdout);
  const service = startService(local);
  const address = addressIn(await service.ready());
  const headers = { 'X-API-Key': demo.write_key, 'Content-Type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const url = `http://127.0.0.1:${port}/`;
  assert.equal((await post('/api/webhooks', { url, events: ['response.received'] })).status, 201);
  const list = await fetch(`${address}/api/v1/surveys`, { headers });
  const { data } = (await list.json()) as { data: { id: string; status: string }[] };
  const { id } = data.find(({ status }) => status === 'active')!;
  const shown = await fetch(`${address}/api/v1/surveys/${id}`, { headers });
  const { share_url } = ((await shown.json()) as { data: { share_url: string } }).data;
  assert.equal((await post(new URL(share_url).pathname, { score: 1 })).status, 201);
  await arrived.promise;

  process.kill(postmaster(), 'SIGKILL');
  const killed = performance.now();
  release.resolve();

  assert.equal(await service.exited, 1);
  assert.ok(performance.now() - killed < 15_000, 'it does not wait for what needs the database');
  const said = service.stderr.lines.join('\n');
  assert.match(said, /"level":"fatal".*the embedded Postgres has ended/);
  assert.match(service.stderr.lines.at(-1) ?? '', /^askback: the embedded Postgres has ended/);
});
