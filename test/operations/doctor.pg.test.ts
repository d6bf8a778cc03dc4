import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { warnOfPatchLevel } from '../../src/lib/db/patch-level.ts';
import type { Finding } from '../../src/operations/findings.ts';
import { readRunbook } from '../../src/operations/runbook.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { commandRunner } from '../support/probe/command.ts';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const version = (await warnOfPatchLevel(db)) ? 'warn' : 'ok';
const doctor = (over: Record<string, string>) =>
  askback(['doctor', '--json'], { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, ...over });

test('doctor only warns about mail on a healthy deployment', async () => {
  const { code, stdout } = await doctor({});
  const { ok, checks } = JSON.parse(stdout);
  assert.deepEqual([code, ok], [0, true]);
  assert.deepEqual(
    checks.map((check: { name: string; status: string }) => [check.name, check.status]),
    [
      ['database', 'ok'],
      ['version', version],
      ['extensions', 'ok'],
      ['schema', 'ok'],
      ['clock', 'ok'],
      ['secret key', 'ok'],
      ['public URL', 'ok'],
      ['SMTP', 'warn'],
    ],
  );
});

test('doctor checks the replica and pooler in order', async () => {
  const nowhere = 'postgres://127.0.0.1:1/x';
  const { stdout } = await doctor({
    DATABASE_URL: nowhere,
    ASKBACK_SESSION_DATABASE_URL: url,
    ASKBACK_READ_DATABASE_URL: `${nowhere}-replica`,
    ASKBACK_DATABASE_WAIT_SECONDS: '0',
  });
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  assert.deepEqual(
    checks.map(({ name, status }) => `${name} ${status}`),
    [
      'database ok',
      `version ${version}`,
      'extensions ok',
      'schema ok',
      'clock ok',
      'pooler fail',
      'replica warn',
      'secret key ok',
      'public URL ok',
      'SMTP warn',
    ],
  );
});

test('doctor answers within seconds when the database is down', async () => {
  const begun = performance.now();
  const { code, stdout } = await doctor({ DATABASE_URL: 'postgres://127.0.0.1:1/x' });
  const { ok, checks } = JSON.parse(stdout);
  assert.deepEqual([code, ok, checks[0].status], [1, false, 'fail']);
  assert.match(checks[0].message, /the database at 127\.0\.0\.1:1 did not answer within 1 seconds/);
  assert.ok(performance.now() - begun < 15_000, 'a start waits for 30 s');
});

test('doctor --alert runs the queries of every section of the runbook', async () => {
  const sections = readRunbook();
  assert.ok(sections.filter(({ queries }) => queries.length > 0).length >= 11);
  const run = commandRunner({ DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey });
  for (const { name, queries } of sections) {
    const { code, stdout } = await run('doctor', '--alert', name, '--json');
    assert.equal(code, 0, name);
    assert.equal(JSON.parse(stdout).results.length, queries.length, name);
  }
  const { stdout } = await run('doctor', '--alert', 'askbackqueuestuck');
  assert.match(stdout, /^AskbackQueueStuck[\s\S]*select task_identifier[\s\S]*no rows/);
  const unknown = await run('doctor', '--alert', 'AskbackQueueStuk');
  assert.match(unknown.stderr, /did you mean 'AskbackQueueStuck'/);
});

test('doctor fails and names the setting when the secret key is wrong', async () => {
  const { db, url: other } = await testDatabase();
  const org_id = await makeOrganization(db);
  const sealed = createSecrets([Buffer.alloc(32, 99)]);
  const id = randomUUID();
  await db`
    insert into webhooks (id, org_id, url, events, secret)
    values (${id}, ${org_id}, 'https://a.example', '{response.received}',
            ${sealed.seal({ owner: org_id, id }, 'whsec_x')})`;
  const { code, stdout } = await doctor({ DATABASE_URL: other });
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  const secret = checks.find(({ name }) => name === 'secret key');
  assert.deepEqual([code, secret?.status], [1, 'fail']);
  assert.match(secret?.message ?? '', /^ASKBACK_SECRET_KEY is not the key .* 1 webhook/);
});
