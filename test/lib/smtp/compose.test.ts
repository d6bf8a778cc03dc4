import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import MailComposer from 'nodemailer/lib/mail-composer';
import PostalMime from 'postal-mime';
import {
  compose,
  type Filling,
  type MessageTemplate,
  slot,
} from '../../../src/lib/smtp/message.ts';
import { oneLine } from '../../../src/lib/validation/parse.ts';

const template: MessageTemplate = {
  from: { name: 'Bäcker & Söhne', address: 'hallo@baecker.example' },
  replyTo: 'reply@baecker.example',
  subject: 'How likely are you to recommend Bäcker & Söhne to a friend?',
  headers: {
    'List-Unsubscribe': `<https://ask.example/u/${slot('token')}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'Auto-Submitted': 'auto-generated',
    'Feedback-ID': 'survey:org:askback',
  },
  text: `Hello ${slot('name')},\n\n.a line with a dot\nhttps://ask.example/s/${slot('token')}?score=9\n`,
  html: `<p title="${slot('name')}">Hello ${slot('name')}</p><a href="https://ask.example/s/${slot('token')}?score=9">9</a>`,
};

const filling: Filling = {
  to: { name: 'Ada', address: 'ada@example.com' },
  messageId: 'send-1@ask.example',
  date: new Date('2026-03-01T08:09:10Z'),
  slots: { name: 'Ada', token: 'tok_1-A' },
};

const read = (message: Buffer | string) => PostalMime.parse(message);

/** The same message for this recipient, composed by nodemailer. */
function composedInFull(template: MessageTemplate, filling: Filling): Promise<Buffer> {
  const put = (text: string, encoded = (value: string) => value) =>
    text.replace(/\ufdd0([a-z_]+)\ufdd1/g, (_, name: string) => encoded(filling.slots[name]!));
  return new MailComposer({
    from: { name: template.from.name ?? '', address: template.from.address },
    replyTo: template.replyTo ?? '',
    to: { name: oneLine(filling.to.name ?? ''), address: filling.to.address },
    subject: oneLine(template.subject),
    messageId: `<${filling.messageId}>`,
    date: filling.date,
    headers: Object.entries(template.headers).map(([key, value]) => ({ key, value: put(value) })),
    text: put(template.text),
    html: put(template.html, escapeHtml),
  })
    .compile()
    .build();
}

const escapeHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

const headerLines = (message: Buffer) =>
  message.toString('latin1').split('\r\n\r\n')[0]!.split('\r\n');

for (const [what, value] of [
  ['ASCII', 'x'.repeat(3000)],
  ['letters of another script', 'ж'.repeat(3000)],
  ['pairs of surrogates', '😀'.repeat(3000)],
] as const) {
  test(`a subject cuts long placeholders of ${what}`, async () => {
    const subject = `${slot('a')}${slot('a')}${slot('a')}${slot('a')}${slot('a')}${slot('a')}, please`;
    const slots = { ...filling.slots, a: value };
    const message = compose({ ...template, subject })({ ...filling, slots });
    assert.ok(headerLines(message).every((line) => line.length <= 998));
    const read = (await PostalMime.parse(message)).subject!;
    assert.match(read, /^(x{199}…|ж{199}…|(😀){99}…){6}, please$/u);
  });
}

/** The contents of a message as a reader sees it. Headers about its encoding are left out. */
async function seen(message: Buffer) {
  const { from, to, replyTo, subject, messageId, date, text, html, headers } = await read(message);
  const own = ['list-unsubscribe', 'list-unsubscribe-post', 'auto-submitted', 'feedback-id'];
  return {
    from,
    to,
    replyTo,
    subject,
    messageId,
    date,
    text: text?.replace(/\r\n|\r/g, '\n').replace(/\n+$/, ''),
    html: html?.replace(/\r\n|\r/g, '\n').replace(/\n+$/, ''),
    headers: headers.filter(({ key }) => own.includes(key)).map(({ key, value }) => [key, value]),
    names: headers
      .map(({ key }) => key)
      .filter((key) => key !== 'content-transfer-encoding')
      .sort(),
  };
}

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '.\n.\n\n.',
    ' trailing \n\ttabs\t\n',
    '=41=\n==',
    '--=_part-Part_1--',
    'From somebody\nFrom: eve@example.com\n\nbody',
    'x'.repeat(5000),
    `${'Ω'.repeat(700)} ${'€'.repeat(40)}`,
    '👩‍👩‍👧‍👦'.repeat(60),
    'a\rb\r\nc\n',
    '$& $1 $name',
  ),
);
const name = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.constantFrom(
      '"Ada" <eve@example.com>',
      'Ada, eve@example.com',
      'Ada\\',
      'Ada (comment',
      '=?utf-8?Q?Ada?=',
      'Größe, Łukasz; <x@y>',
      'مريم العتيبي',
      '山田太郎'.repeat(40),
      'a'.repeat(190),
      'O’Neil & "Sons" <b>',
      '@',
      ';:,',
    ),
  )
  .map(oneLine);
const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

test('a filled message reads like one composed by nodemailer', async () => {
  const content = fc.record({
    subject: text,
    before: text,
    after: text,
    name,
    sender: name,
    token,
  });
  await fc.assert(
    fc.asyncProperty(content, async ({ subject, before, after, name, sender, token }) => {
      const hostile = {
        ...template,
        from: { name: sender, address: template.from.address },
        subject: oneLine(subject) || 'a subject',
        text: `${before}${slot('name')}${after} /s/${slot('token')}?score=9\n.`,
        html: `<p>${escapeHtml(before)}${slot('name')} <a href="/s/${slot('token')}">${escapeHtml(after)}</a>.`,
      };
      const own = { ...filling, to: { name, address: 'ada@example.com' }, slots: { name, token } };
      assert.deepEqual(
        await seen(compose(hostile)(own)),
        await seen(await composedInFull(hostile, own)),
      );
    }),
    { numRuns: 400 },
  );
});

test('every line is short ASCII with CRLF and no leading dot', () => {
  fc.assert(
    fc.property(text, name, (text, name) => {
      const message = compose({ ...template, text: `${text}${slot('name')}${text}` })({
        ...filling,
        to: { name, address: 'ada@example.com' },
        slots: { name: name, token: 't'.repeat(43) },
      }).toString('latin1');
      assert.match(message, /^[\t\r\n\x20-\x7e]*$/);
      assert.doesNotMatch(message, /[^\r]\n|\r[^\n]/);
      assert.doesNotMatch(message, /^\./m);
      const [head = '', ...body] = message.split('\r\n\r\n');
      for (const line of body.join('\r\n\r\n').split('\r\n')) assert.ok(line.length <= 76, line);
      for (const line of head.split('\r\n')) assert.ok(line.length <= 998, line);
    }),
  );
});

test('a name in the HTML part is text, not markup', async () => {
  const message = compose(template)({
    ...filling,
    slots: { name: '"><script>alert(1)</script>', token: 't' },
  });
  const { html } = await read(message);
  assert.ok(html?.includes('title="&quot;&gt;&lt;script&gt;'));
});

test('a value that contains a slot is not filled again', async () => {
  const message = compose(template)({
    ...filling,
    slots: { name: slot('token'), token: 'secret' },
  });
  const { text } = await read(message);
  assert.ok(text?.startsWith(`Hello ${slot('token')},`));
});

test('a header value with a line break throws', () => {
  const fill = compose(template);
  assert.throws(
    () => fill({ ...filling, messageId: 'x>\r\nBcc: <eve@example.com' }),
    /printable ASCII/,
  );
  assert.throws(
    () => fill({ ...filling, slots: { name: 'Ada', token: 'a\nb' } }),
    /printable ASCII/,
  );
  assert.throws(() => fill({ ...filling, slots: { token: 't' } }), /no value for the slot name/);
});
