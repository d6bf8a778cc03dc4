import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type Contents,
  checksum,
  ensureRuntime,
  open,
  pack,
} from '../../../src/lib/embedded-postgres/archive.ts';
import { type DataFolder, makeSocketFolder } from '../../../src/lib/embedded-postgres/folder.ts';
import { removeStrayPidFile } from '../../../src/lib/embedded-postgres/server.ts';

function emptyFolder(t: TestContext): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'askback-files-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const [uid, gid] = [process.getuid!(), process.getgid!()];
const folderAt = (path: string): DataFolder => ({
  path,
  program: 'askback',
  account: { uid, gid, name: 'ours', isOther: false },
});

const texts: Record<string, string> = {
  'bin/first': 'one',
  'lib/empty': '',
  'lib/last': 'three ä',
};
const contents: Contents = {
  manifest: {
    files: Object.entries(texts).map(([path, text]) => {
      const bytes = Buffer.from(text);
      const executable = path.startsWith('bin/');
      return { path, executable, size: bytes.length, sha256: checksum(bytes) };
    }),
    links: [
      { path: 'lib/other', target: 'empty' },
      { path: 'lib/link', target: 'last' },
    ],
  },
  read: ({ path }) => Buffer.from(texts[path]!),
};

test('damaged program files and links are unpacked again', (t) => {
  const folder = folderAt(emptyFolder(t));
  let openings = 0;
  const unpacked = () => {
    openings += 1;
    return open(pack(contents));
  };
  const ensure = () => ensureRuntime(folder, { id: '1', open: unpacked });
  const runtime = ensure();
  const damages: (() => void)[] = [
    () => writeFileSync(join(runtime, 'bin/first'), 'One'),
    () => writeFileSync(join(runtime, 'lib/last'), 'three'),
    () => rmSync(join(runtime, 'lib/empty')),
    () => {
      rmSync(join(runtime, 'lib/link'));
      symlinkSync('empty', join(runtime, 'lib/link'));
    },
    () => rmSync(join(runtime, 'manifest.json')),
  ];
  for (const [place, damage] of damages.entries()) {
    damage();
    for (const _ of ['again', 'and again']) assert.equal(ensure(), runtime);
    assert.equal(openings, place + 2);
    for (const [path, text] of Object.entries(texts)) {
      assert.equal(readFileSync(join(runtime, path), 'utf8'), text);
    }
    assert.equal(readlinkSync(join(runtime, 'lib/link')), 'last');
  }
});

test('the socket moves to /tmp when the path is too long', (t) => {
  const home = emptyFolder(t);
  const longest = process.platform === 'linux' ? 107 : 103;
  const socketIn = (name: string) => join(home, name, 'run/.s.PGSQL.5432');
  const fitting = 'x'.repeat(longest - socketIn('').length - '/'.length);
  for (const [name, fits] of [
    [fitting, true],
    [`${fitting}x`, false],
    ['a b', false],
  ] as const) {
    const path = join(home, name);
    mkdirSync(path);
    const made = makeSocketFolder(folderAt(path));
    t.after(() => rmSync(made, { recursive: true, force: true }));
    assert.equal(made === join(path, 'run'), fits, name);
    assert.equal(dirname(made) === '/tmp', !fits, name);
  }
});

test('a stray pid file with the pid of another program is removed', async (t) => {
  const cluster = emptyFolder(t);
  const pidFile = join(cluster, 'postmaster.pid');
  const write = (pid: number | string) => writeFileSync(pidFile, `${pid}\n${cluster}\n0\n5432\n`);
  const isKept = () => {
    removeStrayPidFile(cluster);
    return existsSync(pidFile);
  };
  for (const [pid, kept] of [
    [process.pid, false],
    [2 ** 30, true], // no such process, which Postgres detects itself
    ['no number', true],
  ] as const) {
    write(pid);
    assert.equal(isKept(), kept, String(pid));
  }
  const worker = spawn('sleep', ['60'], { cwd: cluster });
  await once(worker, 'spawn');
  write(process.pid);
  assert.equal(isKept(), true, 'a worker of it is still there');
  worker.kill();
  await once(worker, 'exit');
  assert.equal(isKept(), false, 'its last worker is gone');
});
