import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { tasks } from '../../src/tasks.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { workOn } from '../support/probe/jobs.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'askback-send-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'contacts.csv');
writeFileSync(file, 'email,name,plan\nann@people.test,Ann,pro\nbob@people.test,,free\n');

const send = (survey: string, words: string[], settings: Record<string, string> = {}) =>
  askback(['survey', 'send', '--survey', survey, ...words], {
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    ...settings,
  });

async function survey() {
  const orgId = await makeOrganization(db);
  return { orgId, id: await makeSurvey(db, orgId) };
}

test('survey send --dry-run says what would be sent, and writes nothing', async () => {
  const { orgId, id } = await survey();
  const { code, stdout } = await send(id, [file, '--dry-run']);
  assert.deepEqual([code, stdout], [0, 'would be sent: 2; 0 duplicates, 0 invalid, 0 failed\n']);
  assert.equal((await db`select from contacts where org_id = ${orgId}`).length, 0);
});

test('survey send mails the contacts of a file through the running service', async (t) => {
  await workOn(t, { url, tasks: tasks(taskTools(db)) });
  const { orgId, id } = await survey();
  // A request of the API takes one contact here: the file is sent in two.
  const { code, stdout, stderr } = await send(id, [file, '--json'], {
    ASKBACK_MAX_CONTACTS: '1',
  });
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /does not run/);
  const { sent, results } = JSON.parse(stdout) as { sent: number; results: { email: string }[] };
  assert.equal(sent, 2);
  assert.deepEqual(
    results.map(({ email }) => email),
    ['ann@people.test', 'bob@people.test'],
  );
  const contacts = await db`
    select email, name, properties ->> 'plan' as plan, status
    from contacts where org_id = ${orgId} order by email`;
  assert.deepEqual(
    contacts.map((row) => ({ ...row })),
    [
      { email: 'ann@people.test', name: 'Ann', plan: 'pro', status: 'sent' },
      { email: 'bob@people.test', name: null, plan: 'free', status: 'sent' },
    ],
  );
  const again = await send(id, [file]);
  assert.match(again.stdout, /^sent: 0; 2 duplicates, 0 invalid, 0 failed\n/);
  assert.doesNotMatch(again.stdout, /in time/);
});

test('survey send refuses a file with a bad line, as a whole', async () => {
  const { orgId, id } = await survey();
  const bad = join(folder, 'bad.csv');
  writeFileSync(bad, 'email\nann@people.test\nnot an address\n');
  const { code, stderr } = await send(id, [bad]);
  assert.equal(code, 1);
  assert.match(stderr, /line 3/);
  assert.equal((await db`select from contacts where org_id = ${orgId}`).length, 0);
});

test('survey send says at once that the service does not run, and until when it waits for it', async () => {
  const { id } = await survey();
  const { stdout, stderr } = await send(id, [file], { ASKBACK_SEND_DEADLINE_SECONDS: '1' });
  assert.match(
    stderr,
    /^the service does not run on this database: start `askback serve` within 1 second/,
  );
  assert.match(stdout, /^sent: 0; 0 duplicates, 0 invalid, 2 failed\n/);
  assert.match(stdout, /no mail was sent in time: is `askback serve` running\?\n$/);
  const dry = await send(id, [file, '--dry-run']);
  assert.equal(dry.stderr, '');
});
