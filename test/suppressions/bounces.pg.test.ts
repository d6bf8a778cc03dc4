import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Refusal } from '../../src/errors.ts';
import { one } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

/** A sent mail, and a way to post reports about it. */
async function sentMail() {
  const client = await makeClient(db);
  const survey_id = await makeSurvey(db, client.id);
  const email = `bob-${randomUUID().slice(0, 8)}@people.test`;
  const of = { org_id: client.id, survey_id };
  const contact = await makeContact(db, of, { email, status: 'sent', sent_at: new Date() });
  const send = { ...of, contact_id: contact, email, request_id: randomUUID(), status: 'sent' };
  const { id } = one(
    await db<{ id: string }[]>`
      insert into mails ${db({ ...send, month: '2026-03-01' })} returning id`,
  );
  const fill = (text: string) => text.replaceAll('{SEND}', id).replaceAll('{EMAIL}', email);
  return {
    client,
    email,
    id,
    fill,
    hand: (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      app.request('/api/bounces', {
        method: 'POST',
        headers: { ...client.write, 'Content-Type': 'message/rfc822', ...headers },
        body: typeof body === 'string' ? fill(body) : body,
      }),
    contact: async () =>
      one(
        await db<{ status: string; failure_reason: string | null }[]>`
        select status, failure_reason from contacts where id = ${contact}`,
      ),
    events: async () =>
      await db<{ kind: string; actor_kind: string }[]>`
        select details ->> 'kind' as kind, actor_kind from audit_events
        where org_id = ${client.id} and act = 'bounce.recorded'`,
    kinds: async () =>
      (await db<{ kind: string }[]>`select kind from suppressions where org_id = ${client.id}`).map(
        ({ kind }) => kind,
      ),
  };
}

const report = (name: string) =>
  readFileSync(`test/suppressions/reports/${name}.eml`, 'utf8').replaceAll('\n', '\r\n');

const fates: [name: string, action: 'bounced' | 'unsubscribed' | 'none'][] = [
  ['postfix-unknown', 'bounced'],
  ['postfix-forwarded', 'bounced'],
  ['exchange-unknown', 'bounced'],
  ['gmail-unknown', 'bounced'],
  ['postfix-delayed', 'none'],
  ['vacation', 'none'],
  ['complaint', 'unsubscribed'],
];

for (const [name, action] of fates) {
  for (const lineEnd of name === 'postfix-unknown' ? ['\r\n', '\n'] : ['\r\n']) {
    test(`${name} with ${JSON.stringify(lineEnd)}: ${action}`, async () => {
      const mail = await sentMail();
      const answer = await mail.hand(report(name).replaceAll('\r\n', lineEnd));
      assert.deepEqual(await answer.json(), { data: { matched: true, action } });
      assert.deepEqual(await mail.kinds(), action === 'none' ? [] : [action]);
      assert.equal((await mail.contact()).status, action === 'none' ? 'sent' : action);
      const recorded = action === 'none' ? [] : [{ kind: action, actor_kind: 'key' }];
      assert.deepEqual([...(await mail.events())], recorded);
    });
  }
}

test('bounced contact shows the reply of the server', async () => {
  const mail = await sentMail();
  await mail.hand(report('exchange-unknown'));
  assert.match(
    (await mail.contact()).failure_reason ?? '',
    /^5\.1\.10 550 5\.1\.10 RESOLVER\.ADR\.RecipientNotFound; Recipient bob-/,
  );
});

test('report posted twice counts once', async () => {
  const mail = await sentMail();
  const bounce = report('postfix-unknown');
  await Promise.all([mail.hand(bounce), mail.hand(bounce)]);
  assert.deepEqual(await mail.kinds(), ['bounced']);
});

test('report in an encoding other than UTF-8 is parsed', async () => {
  const mail = await sentMail();
  const text = mail.fill(report('postfix-unknown')).replace("I'm sorry", 'Désolé');
  const answer = await mail.hand(Buffer.from(text, 'latin1'));
  assert.deepEqual(await answer.json(), { data: { matched: true, action: 'bounced' } });
});

/** Real reports with one defect each, which must have no effect. */
const hostile: [what: string, make: (text: string, send: string) => string][] = [
  ['is about a mail that was not sent', (text, send) => text.replaceAll(send, randomUUID())],
  [
    'names the mail for another domain',
    (text, send) =>
      text.replaceAll('bounces.example', 'evil.test').replace(`<${send}@askback.test>`, '<x@y>'),
  ],
  [
    'says it in its text only',
    (text) =>
      text.replace(
        /^Content-Type: multipart\/report;[\s\S]*?\r\n(?!\s)/m,
        'Content-Type: text/plain\r\n',
      ),
  ],
  [
    'says it in an attachment to an ordinary mail',
    (text) => text.replace('multipart/report', 'multipart/mixed'),
  ],
  [
    'has no recipient',
    (text) => text.replace(/Final-Recipient:[\s\S]*?virtual mailbox table\r\n/, ''),
  ],
  [
    'names other recipients, one of which is well',
    (text) =>
      text
        .replaceAll(/^(Final|Original)-Recipient:.*\r\n/gm, 'Final-Recipient: rfc822; a@b.test\r\n')
        .replace(
          'Remote-MTA',
          'X-Nothing: here\r\n\r\nFinal-Recipient: rfc822; c@d.test\r\nAction: delivered\r\nStatus: 2.0.0\r\nRemote-MTA',
        ),
  ],
  ['has an invalid status', (text) => text.replace('Status: 5.1.1', 'Status: five')],
  ['is cut off before its status', (text) => text.slice(0, text.indexOf('Action: failed'))],
  ['is one line end', () => '\n'],
  [
    'is binary rubbish',
    () => String.fromCharCode(...Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256)),
  ],
  [
    'nests without end',
    (text) => {
      const nest = (depth: number): string =>
        depth === 0
          ? text
          : `Content-Type: multipart/mixed; boundary="b${depth}"\r\n\r\n--b${depth}\r\n${nest(depth - 1)}\r\n--b${depth}--`;
      return nest(300);
    },
  ],
  [
    'has a hundred thousand headers',
    (text) =>
      `${'X-A: b\r\n'.repeat(100_000)}${text.replace('multipart/report', 'multipart/mixed')}`,
  ],
];
for (const [what, make] of hostile) {
  test(`report that ${what} changes nothing`, async () => {
    const mail = await sentMail();
    const answer = await mail.hand(make(mail.fill(report('postfix-unknown')), mail.id));
    const said = (await answer.json()) as { data: { action: string } };
    assert.equal(answer.status, 200);
    assert.equal(said.data.action, 'none');
    assert.deepEqual(await mail.kinds(), []);
    assert.equal((await mail.contact()).status, 'sent');
  });
}

test('report about mails to two addresses matches neither', async () => {
  const mail = await sentMail();
  const [other] = await db<{ id: string }[]>`
    insert into mails (org_id, survey_id, contact_id, email, request_id, status, month)
    select org_id, survey_id, contact_id, 'eve@people.test', request_id, 'sent', month
    from mails where id = ${mail.id} returning id`;
  const text = report('postfix-unknown').replace(
    '<{SEND}@askback.test>',
    `<${other?.id}@askback.test>`,
  );
  assert.deepEqual(await (await mail.hand(text)).json(), {
    data: { matched: false, action: 'none' },
  });
});

test('report with long fields is parsed', async () => {
  const mail = await sentMail();
  const long = report('postfix-unknown').replace(
    'User unknown in',
    `User unknown ${'x '.repeat(100_000)}`,
  );
  assert.equal((await mail.hand(long)).status, 200);
  assert.ok((await mail.contact()).failure_reason!.length <= 500);
});

test("report about another organization's mail does not match", async () => {
  const [mine, theirs] = [await sentMail(), await sentMail()];
  const answer = await mine.hand(theirs.fill(report('gmail-unknown')));
  assert.deepEqual(await answer.json(), { data: { matched: false, action: 'none' } });
  assert.equal((await theirs.contact()).status, 'sent');
});

test('bounce API needs a write key and at most 1 MiB', async () => {
  const mail = await sentMail();
  assert.equal((await mail.hand(report('vacation'), mail.client.read)).status, 403);
  assert.equal((await mail.hand('x'.repeat(1024 * 1024 + 1))).status, 413);
  assert.equal((await mail.hand('')).status, 400);
});

test('unsubscribed contact stays unsubscribed after a bounce', async () => {
  const mail = await sentMail();
  await mail.hand(report('complaint'));
  await mail.hand(report('postfix-unknown'));
  assert.equal((await mail.contact()).status, 'unsubscribed');
  assert.deepEqual((await mail.kinds()).sort(), ['bounced', 'unsubscribed']);
});

test('report about a person who is erased meanwhile stores nothing', async () => {
  const mail = await sentMail();
  await db`
    insert into erasures (org_id, address_hash, scores, counts)
    select id, keyed_hash(address_key, ${mail.email}), 'kept', '{}'
    from organizations
    where id = ${mail.client.id}`;
  const answer = await mail.hand(report('postfix-unknown'));
  assert.deepEqual(await answer.json(), { data: { matched: false, action: 'none' } });
  assert.deepEqual([...(await mail.kinds()), ...(await mail.events())], []);
});

test('message that is not parsed in time blocks no address', async () => {
  const unread = testApp(db, { readReport: async () => undefined });
  const { client, fill, contact } = await sentMail();
  const answer = await unread.request('/api/bounces', {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'message/rfc822' },
    body: fill(report('exchange-unknown')),
  });
  assert.deepEqual(await answer.json(), { data: { matched: false, action: 'none' } });
  assert.equal((await contact()).status, 'sent');
});

test('bounce API answers 429 with Retry-After under load', async () => {
  const waiting = testApp(db, {
    readReport: () => Promise.reject(new Refusal('unavailable', 'later', { retryInSeconds: 5 })),
  });
  const { client } = await sentMail();
  const answer = await waiting.request('/api/bounces', {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'message/rfc822' },
    body: 'Subject: hello\r\n\r\n',
  });
  assert.deepEqual([answer.status, answer.headers.get('Retry-After')], [503, '5']);
});
