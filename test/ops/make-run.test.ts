import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const home = mkdtempSync(join(tmpdir(), 'askback-make-run-'));
after(() => rmSync(home, { recursive: true }));

/** Output of `make run`, with its commands echoed instead of run. */
const runWith = (environment: Record<string, string>) =>
  execFileSync('make', ['--silent', 'run', 'tsx=echo askback'], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });

test('make run fills a demo when the data folder is missing or empty', () => {
  const empty = join(home, 'empty');
  mkdirSync(empty);
  for (const folder of [join(home, 'none'), empty]) {
    const said = runWith({ ASKBACK_DATA_DIR: folder });
    assert.match(said, /^first run: .*\naskback src\/main.ts demo\naskback src\/main.ts serve\n$/);
  }
});

test('make run explains how to create new keys when there is a database', () => {
  const filled = join(home, 'filled');
  mkdirSync(join(filled, 'cluster'), { recursive: true });
  const said = runWith({ ASKBACK_DATA_DIR: filled });
  assert.match(said, /^.*password and keys.* ops\/askback demo .*\naskback src\/main.ts serve\n$/);
});

test('make run creates nothing when another program has the port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const folder = join(home, 'taken');
  const { status, stdout, stderr } = spawnSync('make', ['--silent', 'run', 'tsx=echo askback'], {
    env: { PATH: process.env['PATH'] ?? '', ASKBACK_DATA_DIR: folder, PORT: String(port) },
    encoding: 'utf8',
  });
  other.close();
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(stderr, /is in use by another program/);
});

test('make run fills no demo when DATABASE_URL is set', () => {
  const said = runWith({ DATABASE_URL: 'postgres://elsewhere' });
  assert.equal(said, 'askback src/main.ts serve\n');
});
