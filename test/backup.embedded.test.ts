import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import { addressIn, askback, startService } from './support/processes/program.ts';

const home = mkdtempSync(join(tmpdir(), 'askback-drill-'));
chmodSync(home, 0o755); // lets the account of Postgres in, when the test runs as root
after(() => rmSync(home, { recursive: true, force: true }));
const file = join(home, 'backup');
const deployment = (name: string) => ({ ASKBACK_DATA_DIR: join(home, name), PORT: '0' });
const [old, fresh] = [deployment('old'), deployment('fresh')];

type Keys = { read_key: string; write_key: string };

function client(address: string, key: string) {
  return async (path: string, body?: object) => {
    const response = await fetch(address + path, {
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    assert.ok(response.ok, `${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
}

const mails = async (address: string) =>
  (await (await fetch(`${address}/mailbox`)).text()).match(/\/mailbox\/[0-9a-f-]{36}/g)?.length ??
  0;

test('a deployment that never served can be backed up', async () => {
  await askback(['org', 'create', '--name', 'Nord'], old);
  const first = join(home, 'first');
  const { code, stderr } = await askback(['backup', first], old);
  assert.equal(code, 0, stderr);
  assert.equal(statSync(first).mode & 0o777, 0o600);
});

test('a backup made while serving restores elsewhere and resends no email', async () => {
  const demo: Keys = JSON.parse((await askback(['demo', '--yes', '--json'], old)).stdout);
  const service = startService(old);
  const address = addressIn(await service.ready());
  const api = client(address, demo.write_key);
  const [survey] = (await api('/api/v1/surveys?limit=1')).data;
  const to = { contacts: [{ email: 'ann@people.test' }, { email: 'bob@people.test' }] };
  assert.equal((await api(`/api/v1/surveys/${survey.id}/send`, to)).data.sent, 2);
  const hook = { url: 'https://hooks.invalid/', events: ['response.received'] };
  const webhook = await api('/api/webhooks', hook);

  const backedUp = await askback(['backup', file, '--json'], old);
  assert.equal(backedUp.code, 0, backedUp.stderr);
  const before = [
    await api('/api/v1/nps'),
    await api('/api/v1/contacts?limit=3'),
    await mails(address),
  ];
  assert.equal(await service.stop(), 0);

  const restored = await askback(['restore', file, '--json'], fresh);
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(JSON.parse(restored.stdout).rows, JSON.parse(backedUp.stdout).rows);
  const elsewhere = startService(fresh);
  const there = addressIn(await elsewhere.ready());
  const again = client(there, demo.write_key);

  assert.deepEqual(
    [await again('/api/v1/nps'), await again('/api/v1/contacts?limit=3'), await mails(there)],
    before,
  );
  const sentAgain = await again(`/api/v1/surveys/${survey.id}/send`, to);
  assert.deepEqual([sentAgain.data.sent, sentAgain.data.duplicates], [0, 2]);
  // The secret was sealed with the key in the backup. With another key this would be a 500.
  const tried = await again(`/api/webhooks/${webhook.id}/test`, {});
  assert.equal(tried.delivered, false);
  assert.match(tried.error, /not point to an allowed address/);
  assert.equal(await elsewhere.stop(), 0);
});

test('backup verify restores the newest backup and leaves nothing behind', async () => {
  const backups = join(home, 'backups');
  mkdirSync(backups);
  writeFileSync(join(backups, 'askback-notes.backup'), 'a file of the operator');
  for (const day of ['01', '02', '03']) {
    writeFileSync(join(backups, `askback-2026-01-${day}T031500Z.backup`), 'an old backup');
  }
  const made = await askback(['backup', backups, '--keep', '2', '--json'], old);
  assert.equal(made.code, 0, made.stderr);
  const { file: newest, rows } = JSON.parse(made.stdout);
  assert.deepEqual(
    readdirSync(backups).sort(),
    ['askback-2026-01-03T031500Z.backup', basename(newest), 'askback-notes.backup'].sort(),
  );

  const scratch = join(home, 'scratch');
  mkdirSync(scratch);
  chmodSync(scratch, 0o755);
  const verified = await askback(['backup', 'verify', backups, '--json'], {
    ...old,
    TMPDIR: scratch,
  });
  assert.equal(verified.code, 0, verified.stderr);
  const answer = JSON.parse(verified.stdout);
  assert.deepEqual([answer.file, answer.rows, answer.secret_key], [newest, rows, null]);
  assert.deepEqual(readdirSync(scratch), []);
});

test('backup verify rejects a damaged backup and an empty folder', async () => {
  const damaged = join(home, 'verify-damaged');
  writeFileSync(damaged, readFileSync(file).subarray(0, -100));
  const refused = await askback(['backup', 'verify', damaged], old);
  assert.deepEqual([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /cannot be restored: it is cut short/);
  const empty = await askback(['backup', 'verify', mkdtempSync(join(home, 'empty-'))], old);
  assert.match(empty.stderr, /has no backup/);
});

test('backup --keep is rejected without a folder', async () => {
  const { code, stderr } = await askback(['backup', join(home, 'other'), '--keep', '2'], old);
  assert.equal(code, 2);
  assert.match(stderr, /--keep needs a folder/);
});

test('backup and restore refuse to overwrite existing data', async () => {
  const before = readFileSync(file);
  const second = await askback(['backup', file], old);
  assert.deepEqual([second.code, readFileSync(file).equals(before)], [1, true]);
  assert.match(second.stderr, /exists: use another name, or --force/);

  const over = await askback(['restore', file], fresh);
  assert.equal(over.code, 1);
  assert.match(over.stderr, /the backup cannot be restored: the database is not empty/);
  const missing = await askback(['restore', join(home, 'nothing')], deployment('third'));
  assert.equal(missing.code, 1);
  assert.ok(!existsSync(join(home, 'nothing')));
  assert.equal((await askback(['restore'], fresh)).code, 2);
});

test('a refused backup leaves no secret key behind', async () => {
  const damaged = join(home, 'damaged');
  const bytes = readFileSync(file);
  writeFileSync(damaged, bytes.subarray(0, bytes.length - 100));
  const empty = deployment('damaged-data');
  const refused = await askback(['restore', damaged], empty);
  assert.equal(refused.code, 1, refused.stderr);
  assert.ok(!existsSync(join(home, 'damaged-data/secret.key')));
});
