import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { createAppMailer, type MailFrom } from '../src/app-mailer.ts';
import { accepted } from './support/make/mail-outcomes.ts';

const ann = { name: 'Ann', address: 'ann@people.test' };
const mail = { to: ann, subject: 'Welcome', text: 'hello', html: '<p>hello</p>', id: 'mail-1' };

/** The message of an email as the transport gets it. */
async function sent(publicUrl: string, over: { to?: MailFrom; mailFrom?: MailFrom } = {}) {
  const { to = ann, mailFrom = null } = over;
  const given: { envelope: object; message: Buffer; options: object }[] = [];
  const transport = {
    send: async (envelope: object, message: Buffer, options: object) => {
      given.push({ envelope, message, options });
      return accepted();
    },
  };
  const mailer = createAppMailer({ transport, publicUrl, mailFrom, dkim: null });
  const outcome = await mailer.send({ ...mail, to, group: 'one' });
  return { outcome, given };
}

type Sender = [publicUrl: string, mailFrom: MailFrom | undefined, from: MailFrom, id: string];
const support = { name: 'Support', address: 'support@mail.example' };
const senders: Sender[] = [
  [
    'https://ask.example',
    undefined,
    { name: 'askback', address: 'askback@ask.example' },
    'ask.example',
  ],
  ['https://ask.example', support, support, 'ask.example'],
  ['http://localhost:3000', undefined, { name: 'askback', address: ann.address }, 'localhost'],
  ['http://[::1]:3000', support, support, '::1'],
];
for (const [publicUrl, mailFrom, from, host] of senders) {
  test(`an email of the service at ${publicUrl} comes from ${from.name} <${from.address}>`, async () => {
    const { outcome, given } = await sent(publicUrl, mailFrom && { mailFrom });
    assert.equal(outcome.kind, 'accepted');
    const [{ envelope, message, options }] = given as [(typeof given)[0]];
    assert.deepEqual(envelope, { from: from.address, to: ann.address });
    assert.deepEqual(options, { group: 'one' });
    const read = await PostalMime.parse(message);
    assert.deepEqual([read.from, read.to], [from, [ann]]);
    assert.deepEqual([read.subject, read.messageId], ['Welcome', `<mail-1@${host}>`]);
    assert.deepEqual([read.text?.trim(), read.html?.trim()], ['hello', '<p>hello</p>']);
    const header = (name: string) => read.headers.find(({ key }) => key === name)?.value;
    assert.equal(header('auto-submitted'), 'auto-generated');
    assert.equal(header('x-auto-response-suppress'), 'All');
    assert.equal(read.replyTo, undefined);
  });
}

test('the mailer refuses an invalid address without connecting', async () => {
  const { outcome, given } = await sent('https://ask.example', {
    to: { name: 'Ann', address: 'ann@' },
  });
  assert.deepEqual([outcome.kind, given], ['refused', []]);
  assert.partialDeepStrictEqual(outcome, { permanent: true, code: 553, enhanced: '5.1.3' });
});
