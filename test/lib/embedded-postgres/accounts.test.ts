import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { serverRefusal } from '../../../src/lib/embedded-postgres/cluster.ts';
import { accountWarning, prepareFolder } from '../../../src/lib/embedded-postgres/folder.ts';
import { removeStrayPidFile } from '../../../src/lib/embedded-postgres/server.ts';
import { ask, dataFolder, hold, serveFrom } from '../../support/processes/embedded.ts';

test('the server never runs as root', async (t) => {
  const dataDir = dataFolder(t);
  const { said } = await hold(t, dataDir, 'become');
  assert.match(said, /^ready /);
  assert.notEqual(statSync(`${dataDir}/cluster/postmaster.pid`).uid, 0);
});

test('program files that root unpacked belong to the account', async (t) => {
  const dataDir = dataFolder(t);
  await serveFrom(dataDir);
  const { uid } = statSync(dataDir);
  for (const path of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    assert.equal(lstatSync(`${dataDir}/${path}`).uid, uid, path);
  }
});

test('a data folder below a folder that only root may enter works', async (t) => {
  const dataDir = dataFolder(t);
  chmodSync(dirname(dataDir), 0o700);
  const embedded = await serveFrom(dataDir);
  assert.equal(await ask(embedded.url, '1'), 1);
  await embedded.stop();
  if (embedded.dataDir !== dataDir) rmSync(embedded.dataDir, { recursive: true });
});

test('a folder of another account is rejected and not changed', () => {
  const before = statSync('/usr/share');
  assert.throws(() => prepareFolder('/usr/share', 'askback'), {
    name: 'Refusal',
    message:
      /^\/usr\/share belongs to root and this program runs as \w+: give it to \w+ or use another folder/,
  });
  const { uid, gid, mode } = statSync('/usr/share');
  assert.deepEqual({ uid, gid, mode }, { uid: before.uid, gid: before.gid, mode: before.mode });
});

test('only root that serves as `nobody` is warned', () => {
  const account = { uid: 65_534, gid: 65_534, name: 'nobody', isOther: true };
  const folder = { account, path: '/data', program: 'askback' };
  const warning = accountWarning(folder);
  assert.match(warning!, /useradd --system askback && chown -R askback: \/data/);
  assert.equal(accountWarning({ ...folder, account: { ...account, name: 'askback' } }), undefined);
  assert.equal(accountWarning({ ...folder, account: { ...account, isOther: false } }), undefined);
});

test('a server that the account may not inspect is named and kept', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'askback-hidden-'));
  t.after(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o777);
  // Changing the user makes a process unreadable for others of that user.
  const drop =
    'process.setgid(65534); process.setuid(65534); console.log(1); setInterval(() => {}, 1e9)';
  const hidden = spawn(process.execPath, ['-e', drop]);
  t.after(() => hidden.kill());
  await once(hidden.stdout, 'data');
  writeFileSync(join(folder, 'postmaster.pid'), `${hidden.pid}\n${folder}\n`);
  process.seteuid!(65_534);
  try {
    assert.throws(() => removeStrayPidFile(folder), /run the command as root/);
  } finally {
    process.seteuid!(0);
  }
  assert.ok(existsSync(join(folder, 'postmaster.pid')));
});

test('a file instead of the data folder is rejected', (t) => {
  const file = dataFolder(t);
  writeFileSync(file, '');
  assert.throws(() => prepareFolder(file, 'askback'), {
    name: 'Refusal',
    message: /is not a folder|belongs to/,
  });
});

test('a path that is unsafe in initdb’s shell is rejected', (t) => {
  assert.throws(() => prepareFolder(`${dataFolder(t)}$(id)`, 'askback'), {
    name: 'Refusal',
    message: /has a character in its path/,
  });
});

const reasons: [output: string, reason: string][] = [
  ['PANIC:  could not write to file "pg_wal/1": No space left on device', 'the disk is full'],
  ['PANIC:  could not write to file "pg_wal/1": Disk quota exceeded', 'the disk quota is used up'],
  ['PANIC:  could not locate a valid checkpoint record', 'its data is damaged'],
  ['LOG:  starting\nFATAL:  first\nFATAL:  second', 'first'],
  ['postgres: error while loading shared libraries: libz.so.1', 'postgres: error while loading'],
  ['', 'it ended without an error message'],
];
for (const [output, reason] of reasons) {
  test(`a Postgres that ends with ${JSON.stringify(output).slice(0, 30)}… is rejected with a reason`, () => {
    const start = `the embedded Postgres did not start: ${reason}`;
    assert.equal(serverRefusal(output).message.slice(0, start.length), start);
  });
}
