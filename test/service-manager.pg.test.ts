import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { notifySocket } from './support/fakes/notify-socket.ts';
import { testDatabase } from './support/probe/database.ts';
import { addressIn, secretKey, startService } from './support/processes/program.ts';

const { url } = await testDatabase();
const home = mkdtempSync(join(tmpdir(), 'askback-notify-'));
after(() => rmSync(home, { recursive: true, force: true }));
const environment = (over: Record<string, string>) => ({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  ...over,
});

test('the service notifies the manager when it is ready and stopping', async () => {
  const path = join(home, 'notify');
  const manager = notifySocket(path);
  const service = startService(environment({ NOTIFY_SOCKET: path }));

  const [, status] = await manager.until('READY=1');
  const address = addressIn(status!);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);

  service.child.kill('SIGTERM');
  assert.match((await manager.until('STOPPING=1'))[1]!, /^STATUS=stopping on SIGTERM: /);
  assert.equal(await service.exited, 0);
});

test('the service notifies an abstract socket, also while it waits', async () => {
  const name = `@askback-${process.pid}`;
  const manager = notifySocket(name);
  const away = { DATABASE_URL: 'postgres://127.0.0.1:1/none', ASKBACK_DATABASE_WAIT_SECONDS: '1' };
  const service = startService(environment({ NOTIFY_SOCKET: name, ...away }));
  const waiting = await service.stderr.next(/^waiting up to 1 seconds/);
  await manager.until(`STATUS=${waiting}`);
  assert.equal(await service.exited, 1);
});

test('the watchdog is notified within its interval while the service runs', async () => {
  const path = join(home, 'watchdog');
  const manager = notifySocket(path);
  const patienceMs = 10_000;
  const watchdog = { NOTIFY_SOCKET: path, WATCHDOG_USEC: `${patienceMs * 1000}` };
  const service = startService(environment(watchdog));
  await manager.until('READY=1');
  for (let received = 0; received < 2; received++) {
    const begun = performance.now();
    await manager.until('WATCHDOG=1');
    assert.ok(performance.now() - begun < patienceMs);
  }
  assert.equal(await service.stop(), 0);
});
