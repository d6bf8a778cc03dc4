import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../support/probe/database.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { url } = await testDatabase();
const doctor = (over: Record<string, string>) =>
  askback(['doctor', '--json'], { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, ...over });

test('a healthy deployment is found well in every respect', async () => {
  const { code, stdout } = await doctor({});
  const { ok, checks } = JSON.parse(stdout);
  assert.deepEqual([code, ok], [0, true]);
  assert.deepEqual(
    checks.map((check: { name: string; status: string }) => [check.name, check.status]),
    [
      ['database', 'ok'],
      ['extensions', 'ok'],
      ['schema', 'ok'],
      ['clock', 'ok'],
      ['secret key', 'ok'],
      ['public URL', 'ok'],
      ['SMTP', 'ok'],
    ],
  );
});

test('a database that is away is a finding, not an end', async () => {
  const { code, stdout } = await doctor({
    DATABASE_URL: 'postgres://127.0.0.1:1/x',
    ASKBACK_DATABASE_WAIT_SECONDS: '0',
  });
  const { ok, checks } = JSON.parse(stdout);
  assert.deepEqual([code, ok, checks[0].status], [1, false, 'fail']);
  assert.match(checks[0].message, /the database at 127\.0\.0\.1:1 did not answer within 0 seconds/);
});
