import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { socketName } from '../../../src/lib/embedded-postgres/folder.ts';
import { stopServer } from '../../../src/lib/embedded-postgres/server.ts';
import { dataFolder, serveFrom } from '../../support/processes/embedded.ts';

const longest = 1_000_000;
const before = 'FATAL:  No space left on device\n';

test('a log longer than a million bytes is put aside at a start, and only what is new in it says why a server ended', async (t) => {
  const dataDir = dataFolder(t);
  await (await serveFrom(dataDir)).stop();
  const log = join(dataDir, 'postgres.log');
  const aside = `${log}.1`;
  writeFileSync(log, before.repeat(longest / before.length + 1).slice(-longest));
  writeFileSync(join(dataDir, 'postgresql.conf'), "work_mem = 'x'\n");
  const refused = { message: /did not start: configuration file .* contains errors$/ };

  await assert.rejects(serveFrom(dataDir), refused);
  assert.equal(existsSync(aside), false);
  assert.ok(statSync(log).size > longest);

  writeFileSync(log, before.repeat(longest / before.length + 1).slice(-longest - 1));
  await assert.rejects(serveFrom(dataDir), refused);
  assert.equal(statSync(aside).size, longest + 1);
  assert.match(readFileSync(log, 'utf8'), /invalid value for parameter "work_mem"/);
  assert.ok(statSync(log).size < 10_000);
});

for (const ends of [true, false]) {
  test(`a server that ${ends ? 'ends within half a minute writes everything down' : 'does not end has to leave everything as it is after half a minute'}`, async (t) => {
    const socketFolder = mkdtempSync(join(tmpdir(), 'askback-stop-'));
    const socket = createServer().listen(join(socketFolder, socketName));
    await once(socket, 'listening');
    t.after(() => {
      socket.close();
      rmSync(socketFolder, { recursive: true, force: true });
    });
    const signals: unknown[] = [];
    t.mock.method(
      process,
      'kill',
      (_: number, signal: unknown) => signal === 0 || signals.push(signal),
    );
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { promise: gone, resolve: end } = Promise.withResolvers<void>();

    const stopping = stopServer({ pid: 2 ** 30, socketFolder, gone });
    t.mock.timers.tick(29_999);
    assert.deepEqual(signals, ['SIGINT']);
    if (ends) {
      end();
      await stopping;
    }
    t.mock.timers.tick(1);
    assert.deepEqual(signals, ends ? ['SIGINT'] : ['SIGINT', 'SIGQUIT']);
    end();
    await stopping;
  });
}
