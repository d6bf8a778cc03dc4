import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { addressIn, programAt } from './support/processes/program.ts';

/** From the executable of the previous release to this version. Run by `bash ops/ci/with-previous make test-upgrade`. */
const previous = process.env['PREVIOUS_ASKBACK'];
if (!previous) throw new Error('run it by: bash ops/ci/with-previous make test-upgrade');
const current = programAt('src/main.ts');
const home = mkdtempSync(join(tmpdir(), 'askback-upgrade-'));
chmodSync(home, 0o755); // lets the account of Postgres in
after(() => rmSync(home, { recursive: true, force: true }));

const environment = (folder: string) => ({
  PATH: process.env['PATH']!,
  ASKBACK_DATA_DIR: join(home, folder),
  PORT: '0',
});
const before = (words: string[], folder: string) =>
  execFileSync(previous, words, { env: environment(folder), encoding: 'utf8' });

const { read_key } = JSON.parse(before(['demo', '--yes', '--json'], 'data')) as {
  read_key: string;
};
const file = join(home, 'previous.backup');
const { rows } = JSON.parse(before(['backup', file, '--json'], 'data')) as { rows: number };

async function scoreOf(address: string): Promise<number> {
  const headers = { 'X-API-Key': read_key };
  const response = await fetch(`${address}/api/v1/nps?type=nps`, { headers });
  assert.equal(response.status, 200);
  return ((await response.json()) as { data: { total: number } }).data.total;
}

test('this version serves the data of the previous release', async () => {
  const service = current.startService(environment('data'));
  const address = addressIn(await service.ready());
  assert.ok((await scoreOf(address)) > 0);
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  assert.equal(await service.stop(), 0);
});

test('this version restores a backup of the previous release', async () => {
  const restored = await current.askback(['restore', file, '--json'], environment('restored'));
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(JSON.parse(restored.stdout).rows, rows);
});
