import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { commandRunner } from '../support/probe/command.ts';
import { testDatabase } from '../support/probe/database.ts';
import { secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  ASKBACK_PUBLIC_URL: 'https://ask.example',
};
const run = commandRunner(environment);
const folder = mkdtempSync(join(tmpdir(), 'askback-preview-'));
after(() => rmSync(folder, { recursive: true }));

test('mail preview writes both parts to files', async () => {
  const survey = await makeSurvey(db, await makeOrganization(db), { question_text: 'Wie war’s?' });
  const { code, stdout } = await run(
    'mail',
    'preview',
    '--survey',
    survey,
    '--out',
    join(folder, 'new'),
  );
  assert.equal(code, 0);
  const files = stdout.trim().split('\n');
  assert.deepEqual(files, [
    join(folder, 'new', `mail-${survey}.html`),
    join(folder, 'new', `mail-${survey}.txt`),
  ]);
  const [html, text] = files.map((file) => readFileSync(file, 'utf8'));
  assert.match(
    html!,
    /^<!doctype html>[\s\S]*Wie war’s\?[\s\S]*https:\/\/ask\.example\/s\/preview\?score=9/i,
  );
  assert.match(text!, /Hello Robin Reader,\n\nWie war’s\?[\s\S]*\/s\/preview\?score=9/);
});

test('mail preview explains an unknown survey or folder', async () => {
  const unknown = await run('mail', 'preview', '--survey', randomUUID());
  assert.deepEqual([unknown.code, unknown.stderr], [1, 'askback: survey not found\n']);
  const survey = await makeSurvey(db, await makeOrganization(db));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const nowhere = await run('mail', 'preview', '--survey', survey, '--out', file);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /^askback: .*mail-.*\.html cannot be written: /);
});

/** Recent enough for visits and blocked mails to be shown. */
const day = new Date(Date.now() - 10 * 86_400_000).toISOString().slice(0, 10);

/** Ann was mailed, opened twice, answered, unsubscribed, and was blocked for a later survey. */
async function story() {
  const org_id = await makeOrganization(db);
  const at = (minute: number) => new Date(`${day}T08:0${minute}:00Z`);
  const survey_id = await makeSurvey(db, org_id, { name: 'Spring' });
  const email = `Ann-${randomUUID()}@people.test`;
  const of = { org_id, survey_id };
  const contact_id = await makeContact(db, of, { email, created_at: at(0) });
  const month = '2026-03-01';
  const send = { ...of, contact_id, email, request_id: randomUUID(), month, claimed_at: at(1) };
  const reason = '554 5.7.1 no';
  await db`insert into mails ${db([
    {
      ...send,
      status: 'failed',
      blocks_resend: false,
      reason,
      reason_code: 'refused',
      server_reply: null,
      finished_at: at(1),
    },
    {
      ...send,
      status: 'sent',
      blocks_resend: true,
      reason: null,
      reason_code: null,
      server_reply: '250 2.0.0 queued as 4F2',
      finished_at: at(2),
    },
  ])}`;
  const opened = { ...of, contact_id, method: 'GET' };
  await db`insert into link_visits ${db([
    { ...opened, kind: 'view', visited_at: at(3) },
    { ...opened, kind: 'view', visited_at: at(4) },
    { ...opened, kind: 'post', visited_at: at(5) },
  ])}`;
  await makeResponse(db, of, { contact_id, score: 9, created_at: at(5) });
  await db`insert into suppressions ${db({ org_id, email: email.toLowerCase(), kind: 'unsubscribed', created_at: at(6) })}`;
  const rule = {
    email: email.toLowerCase(),
    reason_code: 'unsubscribed',
    reason: 'has unsubscribed',
  };
  await db`insert into blocked_mails ${db({ ...of, ...rule, blocked_at: at(7) })}`;
  return { org_id, email };
}

test('contact why shows the Message-ID and the reply of the server', async () => {
  const { org_id, email } = await story();
  const { stdout } = await run('contact', 'why', '--org', org_id, '--email', email, '--json');
  const [{ id }] = await db<[{ id: string }]>`
    select id from mails where org_id = ${org_id} and status = 'sent'`;
  const sent = JSON.parse(stdout).events.find(({ what }: { what: string }) => what === 'sent');
  assert.partialDeepStrictEqual(sent, {
    message_id: `${id}@ask.example`,
    server_reply: '250 2.0.0 queued as 4F2',
  });
});

test('contact why prints lines for an address in any case', async () => {
  const { org_id, email } = await story();
  const { code, stdout } = await run(
    'contact',
    'why',
    '--org',
    org_id,
    '--email',
    email.toUpperCase(),
  );
  assert.equal(code, 0);
  assert.match(
    stdout,
    new RegExp(
      `^when +what +survey +reason +message id +server reply +trace\\n${day}T08:00:00.000Z +added +Spring`,
    ),
  );
  assert.match(stdout, /sent +Spring +- +<\S+@ask\.example> +250 2\.0\.0 queued as 4F2 +-\n/);
  assert.match(stdout, /blocked +Spring +\[unsubscribed\] has unsubscribed +- +- +-\n$/);
});
