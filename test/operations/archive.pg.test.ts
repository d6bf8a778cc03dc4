import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { CommandTools } from '../../src/command-tools.ts';
import { createSecrets, saveRestoredKey } from '../../src/lib/crypto/secrets.ts';
import { archiveCommands } from '../../src/operations/archive.ts';
import { listBackups } from '../../src/operations/operator/queries.ts';
import { loadConfig } from '../../src/settings.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-archive-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const { db, url } = await testDatabase();
await makeOrganization(db);
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, ASKBACK_DATA_DIR: folder };
const [backup, verify] = archiveCommands;
saveRestoredKey(folder, Buffer.alloc(32, 1));

/** Stands in for the built-in Postgres, which has its key in the data directory. */
function toolsWith({ inEnvironment }: { inEnvironment: boolean }): CommandTools {
  const config = loadConfig(environment, () => '');
  return {
    config: () => (inEnvironment ? config : { ...config, secretKey: null }),
    environment,
    say: () => {},
    print: () => {},
    stopSignal: async () => 'SIGTERM',
  };
}

const keys: [inEnvironment: boolean, said: string][] = [
  [false, 'It contains the secret key: store it where only you can read it.'],
  [
    true,
    'It does not contain the secret key: keep ASKBACK_SECRET_KEY too, or webhook secrets are lost.',
  ],
];
for (const [inEnvironment, said] of keys) {
  test(`backup with the key in the ${inEnvironment ? 'environment' : 'data directory'} mentions it`, async () => {
    const file = join(folder, `backup-${inEnvironment}`);
    const tools = toolsWith({ inEnvironment });
    const { output } = await backup!.run(tools, [file], 'askback');
    assert.match(output, /^wrote \d+ rows to /);
    assert.ok(output.endsWith(` to ${file}. ${said}`), output);
    await assert.rejects(backup!.run(tools, [file], 'askback'), {
      message: `${file} exists: use another name, or --force`,
    });
    const begun = new Date();
    assert.equal((await backup!.run(tools, [file, '--force'], 'askback')).exitCode, 0);
    const [newest] = await listBackups(db);
    assert.ok(newest && newest >= begun, 'its time is recorded');
  });
}

test('backup verify fails when the secret key does not open webhook secrets', async () => {
  const org = await makeOrganization(db);
  const id = await makeWebhook(db, org);
  const other = createSecrets([Buffer.alloc(32, 9)]);
  const secret = other.seal({ owner: org, id }, 'whsec_other');
  await db`update webhooks set secret = ${secret} where id = ${id}`;
  const file = join(folder, 'other-key');
  const tools = toolsWith({ inEnvironment: true });
  await backup!.run(tools, [file], 'askback');
  const { output, exitCode } = await verify!.run(tools, [file], 'askback');
  assert.equal(exitCode, 1);
  assert.match(output, /can be restored: \d+ rows\nASKBACK_SECRET_KEY is not/);
});
