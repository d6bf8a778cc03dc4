import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { commandRunner } from '../support/probe/command.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const run = commandRunner({ DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey });

async function suppressed(email: string, kind: 'unsubscribed' | 'bounced') {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const contact = await makeContact(db, { org_id, survey_id }, { email, status: kind });
  const [row] = await db<{ id: string }[]>`
    insert into suppressions ${db({ org_id, email, kind, detail: 'said so' })} returning id`;
  return { org_id, contact, id: row!.id };
}

test('suppression list shows the addresses of one organization', async () => {
  const { org_id, id } = await suppressed('ann@people.test', 'unsubscribed');
  await suppressed('bob@people.test', 'bounced');
  const { code, stdout } = await run('suppression', 'list', '--org', org_id);
  assert.equal(code, 0);
  assert.match(
    stdout,
    new RegExp(`^id .*\n${id} +\\S+ +unsubscribed +ann@people.test +said so\n$`),
  );
});

test('suppression list takes an address in any case and a kind', async () => {
  const { org_id } = await suppressed('ann@people.test', 'bounced');
  const list = async (...words: string[]) => {
    const { stdout } = await run('suppression', 'list', '--org', org_id, '--json', ...words);
    return (JSON.parse(stdout) as { email: string }[]).map(({ email }) => email);
  };
  assert.deepEqual(await list('--email', 'Ann@people.test'), ['ann@people.test']);
  assert.deepEqual(await list('--email', 'bob@people.test'), []);
  assert.deepEqual(await list('--kind', 'unsubscribed'), []);
});

test('suppression remove lets the address get mail again', async () => {
  const { org_id, contact, id } = await suppressed('ann@people.test', 'bounced');
  const other = await suppressed('ann@people.test', 'bounced');
  const { code, stdout } = await run('suppression', 'remove', '--id', id);
  assert.equal(code, 0);
  assert.match(stdout, /ann@people.test/);
  assert.equal((await db`select from suppressions where org_id = ${org_id}`).length, 0);
  const [row] = await db`select status from contacts where id = ${contact}`;
  assert.equal(row?.['status'], 'pending');
  assert.equal((await db`select from suppressions where id = ${other.id}`).length, 1);
  const again = await run('suppression', 'remove', '--id', id);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /suppression not found/);
});
