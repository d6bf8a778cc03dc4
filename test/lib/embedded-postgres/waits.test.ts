import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { attachEmbedded } from '../../../src/lib/embedded-postgres/embedded.ts';
import { prepareFolder } from '../../../src/lib/embedded-postgres/folder.ts';
import { openLock, waitFor } from '../../../src/lib/embedded-postgres/lock.ts';
import { adoptServer, startServer } from '../../../src/lib/embedded-postgres/server.ts';
import { dataFolder, optionsFor } from '../../support/processes/embedded.ts';

function emptyFolder(t: TestContext): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'askback-waits-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A clock that a test sets, and counts how often it is read. */
function handTime(t: TestContext) {
  const time = { now: 0, reads: 0 };
  t.mock.method(performance, 'now', () => {
    time.reads += 1;
    return time.now;
  });
  return time;
}

/** Sets the clock, and waits until it was read twice since, or the work that reads it is over. */
async function goTo(time: ReturnType<typeof handTime>, now: number, work: Promise<unknown>) {
  time.now = now;
  const before = time.reads;
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void work.then(end, end);
  while (!isOver && time.reads < before + 2) await nextTurn();
}

test('a lock is waited for as long as is said, and then whose work takes so long', async (t) => {
  const time = handTime(t);
  let isFree = false;
  const waiting = waitFor(() => isFree, 'starting Postgres', 90);
  await goTo(time, 90_000, waiting);
  isFree = true;
  await waiting;

  isFree = false;
  time.now = 0;
  const refused = waitFor(() => isFree, 'starting Postgres', 90);
  time.now = 90_001;
  await assert.rejects(refused, {
    message: 'another process has been starting Postgres for 90 seconds',
  });
});

test('a command waits a minute and a half for others that start or stop the server', async (t) => {
  const time = handTime(t);
  const dataDir = dataFolder(t);
  const turn = openLock(prepareFolder(dataDir, 'askback'), 'start');
  assert.equal(turn.tryExclusive(), true);
  t.after(() => turn.close());
  const refused = attachEmbedded(optionsFor(dataDir));
  await goTo(time, 90_000, refused);
  time.now = 90_001;
  await assert.rejects(refused, {
    message: 'another process has been starting or stopping Postgres for 90 seconds',
  });
});

test('a server that another process starts has a minute to be ready', async (t) => {
  const time = handTime(t);
  const cluster = emptyFolder(t);
  const server = spawn('sleep', ['60'], { cwd: cluster });
  await once(server, 'spawn');
  t.after(() => server.kill());
  const is = (state: string) =>
    writeFileSync(
      join(cluster, 'postmaster.pid'),
      [server.pid, cluster, 0, 5432, '/socket', '', 0, state].join('\n'),
    );

  is('starting');
  const adopting = adoptServer(cluster);
  await goTo(time, 60_000, adopting);
  is('ready   ');
  const { pid, socketFolder } = (await adopting)!;
  assert.deepEqual([pid, socketFolder], [server.pid, '/socket']);

  is('starting');
  time.now = 0;
  const refused = adoptServer(cluster);
  time.now = 60_001;
  await assert.rejects(refused, {
    message: `the embedded Postgres has not become ready (pid ${server.pid})`,
  });
});

test('a server is started again for a minute while workers of the one before have its data, and not for another reason', async (t) => {
  const time = handTime(t);
  const path = emptyFolder(t);
  const [runtime, cluster, starts] = ['runtime', 'cluster', 'starts'].map((name) =>
    join(path, name),
  ) as [string, string, string];
  mkdirSync(join(runtime, 'bin'), { recursive: true });
  mkdirSync(cluster);
  const endsWith = (said: string) =>
    writeFileSync(
      join(runtime, 'bin/postgres'),
      `#!/bin/sh\necho start >> '${starts}'\necho '${said}'\nexit 1\n`,
      { mode: 0o755 },
    );
  const account = { uid: process.getuid!(), gid: process.getgid!(), name: 'ours', isOther: false };
  const start = () => startServer({ path, account, program: 'askback' }, { runtime, cluster });
  const count = () => readFileSync(starts, 'utf8').split('\n').length - 1;

  for (const occupied of [
    'lock file "postmaster.pid" already exists',
    'pre-existing shared memory block (key 1)',
  ]) {
    time.now = 0;
    writeFileSync(starts, '');
    endsWith(`FATAL:  ${occupied}`);
    const refused = start();
    await goTo(time, 60_000, refused);
    time.now = 60_001;
    await assert.rejects(refused, new RegExp(`did not start: ${occupied.replace('(key 1)', '')}`));
    assert.ok(count() >= 3);
  }
  writeFileSync(starts, '');
  endsWith('FATAL:  no');
  await assert.rejects(start(), /did not start: no$/);
  assert.equal(count(), 1);
});
