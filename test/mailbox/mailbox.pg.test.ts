import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createMailbox, deleteOldMessages, findMessages } from '../../src/mailbox/mailbox.ts';
import { serve } from '../e2e/serve.ts';
import { arrivedMail } from '../support/make/survey-mail.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);
const base = await serve(app);
const port = new URL(base).port;

/** Sends a request with any headers, including the ones that fetch does not allow. */
async function ask(path: string, headers: Record<string, string> = {}) {
  const [answer] = (await once(get(`${base}${path}`, { headers }), 'response')) as [
    IncomingMessage,
  ];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

async function keep(subject: string | null = null) {
  const { raw } = await arrivedMail({
    survey: { subject, question_text: 'Wie war’s, <b>Zoë</b>?' },
  });
  const envelope = { from: 'ann@acme.test', to: 'zoë@people.test' };
  return { raw, id: await kept(envelope, raw) };
}

async function kept(envelope: { from: string; to: string }, raw: Buffer) {
  const outcome = await createMailbox(db).send(envelope, raw);
  return /[0-9a-f-]{36}/.exec(outcome.kind === 'accepted' ? outcome.response : '')![0];
}

test('the mailbox lists mails newest first, with decoded subjects', async () => {
  await keep('Ein Gruß');
  const { id } = await keep(
    'Schöne Grüße aus dem Süden, wo es länger wird als eine Zeile fasst: öäü',
  );
  const { status, body } = await ask('/mailbox');
  assert.equal(status, 200);
  assert.ok(body.includes(`href="/mailbox/${id}"`));
  assert.ok(body.indexOf('aus dem Süden, wo es länger wird als eine') < body.indexOf('Ein Gruß'));
});

test('a mail is shown with text, headers and an HTML frame', async () => {
  const { id, raw } = await keep();
  const { status, body, headers } = await ask(`/mailbox/${id}`);
  assert.equal(status, 200);
  assert.ok(body.includes('Wie war’s, &lt;b&gt;Zoë&lt;/b&gt;?') && !body.includes('<b>Zoë</b>'));
  assert.ok(body.includes('List-Unsubscribe-Post'));
  assert.match(body, /<iframe[^>]+sandbox="allow-popups allow-popups-to-escape-sandbox"/);
  assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-src 'self'/);
  assert.equal((await ask(`/mailbox/${id}/raw`)).body, raw.toString());
});

test('the HTML part runs and loads nothing, and cannot be framed elsewhere', async () => {
  const { id } = await keep();
  const { headers, body } = await ask(`/mailbox/${id}/html`);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^sandbox allow-popups allow-popups-to-escape-sandbox;/);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'self'/);
  assert.doesNotMatch(policy, /script-src|allow-scripts|allow-same-origin/);
  assert.match(body, /<base target="_blank">/);
});

test('programs read the mailbox as JSON', async () => {
  const { id } = await keep('For programs');
  const accept = { Accept: 'application/json' };
  const { data: list } = JSON.parse((await ask('/mailbox', accept)).body);
  assert.partialDeepStrictEqual(list[0], { id, subject: 'For programs', from: 'ann@acme.test' });
  const { data } = JSON.parse((await ask(`/mailbox/${id}`, accept)).body);
  assert.equal((await ask(`/mailbox/${id}/html`)).status, 200);
  assert.match(data.text, /tok_1/);
  assert.match(data.html, /tok_1/);
});

test('a mail with only text has no HTML part', async () => {
  const raw = Buffer.from('Subject: Plain\r\n\r\nOnly words.\r\n');
  const id = await kept({ from: 'ann@acme.test', to: 'bob@people.test' }, raw);
  assert.equal((await ask(`/mailbox/${id}/html`)).status, 404);
  const { data } = JSON.parse((await ask(`/mailbox/${id}`, { Accept: 'application/json' })).body);
  assert.partialDeepStrictEqual(data, { text: 'Only words.\n', html: null });
});

for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST`, `[::1]:${port}`]) {
  test(`the mailbox accepts the host ${host.replace(/\d{5}/, 'PORT')}`, async () => {
    assert.equal((await ask('/mailbox', { Host: host })).status, 200);
  });
}

const strangers: [what: string, headers: Record<string, string>][] = [
  ['another name that leads here', { Host: `evil.test:${port}` }],
  ['a name that begins as ours', { Host: 'localhost.evil.test' }],
  ['a proxy that names the client', { 'X-Forwarded-For': '203.0.113.9' }],
  ['a proxy that says so in the standard way', { Forwarded: 'for=203.0.113.9' }],
];
for (const [what, headers] of strangers) {
  test(`the mailbox is closed to ${what}`, async () => {
    const { id } = await keep('secret');
    for (const path of [
      '/mailbox',
      `/mailbox/${id}`,
      `/mailbox/${id}/html`,
      `/mailbox/${id}/raw`,
    ]) {
      const { status, body } = await ask(path, headers);
      assert.equal(status, 403);
      assert.ok(!body.includes('tok_1'));
    }
  });
}

test('the mailbox refuses requests without a socket', async () => {
  const answer = await app.request('http://localhost/mailbox', { headers: { Host: 'localhost' } });
  assert.equal(answer.status, 403);
});

test('there is no mailbox with an SMTP server', async () => {
  const url = await serve(testApp(db, { mailbox: false }));
  const { id } = await keep();
  assert.equal((await fetch(`${url}/mailbox`)).status, 404);
  assert.equal((await fetch(`${url}/mailbox/${id}/html`)).status, 404);
});

test('a search reads all messages, and their decoded parts', async () => {
  await db`truncate mailbox_messages`;
  const ids = Array.from({ length: 51 }, () => randomUUID())
    .toSorted()
    .toReversed();
  for (const id of ids) {
    await db`
      insert into mailbox_messages (id, mail_from, rcpt_to, subject, raw)
      values (${id}, 'shop@acme.test', 'ann@people.test', 'Hello', ${Buffer.from('Subject: Hello\r\n\r\nAnn')})`;
  }
  const found = async () => await findMessages(db, (text) => text.includes('Hello'));
  assert.deepEqual(await found(), ids.toReversed());
});

test('keeps the newest ten thousand messages', async () => {
  await db`truncate mailbox_messages`;
  await db`
    insert into mailbox_messages (mail_from, rcpt_to, subject, raw, received_at)
    select 'a', 'b', 'old', '', now() - interval '1 day'
    from generate_series(1, 10000) n`;
  const [first] = await db`select min(id::text) as id from mailbox_messages`;
  const { id } = await keep('new');
  await deleteOldMessages({ db });
  const [left] = await db`
    select count(*)::int as mails, bool_or(id = ${id}) as has_new,
           bool_or(id = ${first!['id']}) as has_first
    from mailbox_messages`;
  assert.deepEqual({ ...left }, { mails: 10_000, has_new: true, has_first: false });
});
