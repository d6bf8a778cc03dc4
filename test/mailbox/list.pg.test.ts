import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMailbox } from '../../src/mailbox/mailbox.ts';
import { serve } from '../e2e/serve.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const base = await serve(testApp(db));
const page = async (query: string) => await (await fetch(`${base}/mailbox${query}`)).text();
const idsIn = (html: string) =>
  [...html.matchAll(/href="\/mailbox\/([\da-f-]{36})"/g)].map(([, id]) => id);
const linksIn = (html: string) =>
  [...html.matchAll(/href="\/mailbox\?(?:limit=2&amp;)?page=(\d+)">(\w+)</g)].map(
    ([, to, text]) => `${text} ${to}`,
  );

/** Adds mails, most of them with equal times. Returns their ids, newest first. */
async function filledWith(mails: number) {
  await db`truncate mailbox_messages`;
  await db`
    insert into mailbox_messages (mail_from, rcpt_to, subject, raw, received_at)
    select 'a', 'b', 'one', '', now() - make_interval(mins => n / 30)
    from generate_series(1, ${mails}) n`;
  const kept = await db<{ id: string; received_at: Date }[]>`
    select id, received_at from mailbox_messages`;
  const key = ({ id, received_at }: (typeof kept)[number]) => `${received_at.toISOString()} ${id}`;
  return kept.toSorted((a, b) => (key(a) < key(b) ? 1 : -1)).map(({ id }) => id);
}

test('an empty mailbox says so, without pages', async () => {
  assert.deepEqual(await filledWith(0), []);
  const html = await page('');
  assert.ok(html.includes('No emails yet.'));
  assert.deepEqual(linksIn(html), []);
  assert.deepEqual(idsIn(html), []);
});

test('mails are listed newest first, with links between pages', async () => {
  const ids = await filledWith(5);
  const found: (string | undefined)[] = [];
  for (const at of [1, 2, 3]) {
    const html = await page(`?limit=2&page=${at}`);
    found.push(...idsIn(html));
    assert.deepEqual(linksIn(html), [
      ...(at > 1 ? [`Newer ${at - 1}`] : []),
      ...(at < 3 ? [`Older ${at + 1}`] : []),
    ]);
  }
  assert.deepEqual(found, ids);
});

/** A raw mail, and its subject in the list. */
const subjects: [what: string, raw: string, subject: string][] = [
  ['as it is written', 'From: a\r\nSubject: Hello\r\nTo: b\r\n\r\nWords', 'Hello'],
  ['whatever its case', 'SUBJECT: Hello\r\n\r\nWords', 'Hello'],
  ['over several lines', 'Subject: Hello\r\n to\r\n\tall\r\nTo: b\r\n\r\nWords', 'Hello to all'],
  ['of a mail without a body', 'Subject: Hello', 'Hello'],
  ['empty, for one without it', 'From: a\r\n\r\nSubject: in the words\r\n\r\nMore words', ''],
  ['empty, for one without headers', '\r\n\r\nSubject: in the words', ''],
];
for (const [what, raw, subject] of subjects) {
  test(`the mailbox shows a subject ${what}`, async () => {
    await createMailbox(db).send({ from: 'a@acme.test', to: 'b@people.test' }, Buffer.from(raw));
    const [kept] = await db`select subject from mailbox_messages where raw = ${Buffer.from(raw)}`;
    assert.equal(kept?.['subject'], subject);
  });
}
