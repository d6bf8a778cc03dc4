import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import { createMailer } from '../../src/sends/mail-job.ts';
import type { ClaimedMail } from '../../src/sends/queries.ts';
import { busy, lost, rejected, unanswered } from '../support/make/mail-outcomes.ts';

const claimed: ClaimedMail = {
  id: '0b6f8f0e-5a52-4c58-9f39-1f2f3a4b5c6d',
  org_id: '9d3c7f64-1111-4222-8333-444455556666',
  survey_id: '5f0c7f64-1111-4222-8333-444455556666',
  request_id: 'r',
  email: 'Ada@Example.com',
  name: 'Ada',
  status: 'claimed',
  token: 'tok_1',
  properties: {},
  attempts: 0,
  traceparent: null,
  awaited: true,
  reminder: 0,
  reminds_of: null,
  claimed_ms_ago: 0,
  survey: {
    id: '5f0c7f64-1111-4222-8333-444455556666',
    type: 'nps',
    audience: null,
    question_text: 'How likely are you to recommend us?',
    subject: null,
    intro: null,
    texts: {},
    reminders: [],
    language: 'en',
    from_name: 'Baker & Sons',
    from_email: 'hello@bäcker.example',
    reply_to: 'reply@baker.example',
  },
  organization: {
    id: '9d3c7f64-1111-4222-8333-444455556666',
    name: 'Baker & Sons',
    color: '#2f6fed',
  },
};

const accepted: MailOutcome = { kind: 'accepted', response: '250 ok' };

/** A mailer whose server gives one reply and keeps its messages. */
function mailer({ answer = accepted, bounceDomain = null as string | null } = {}) {
  const sent: { from: string; to: string; message: Buffer }[] = [];
  const transport = {
    send: async (envelope: { from: string; to: string }, message: Buffer) => {
      sent.push({ ...envelope, message });
      return answer;
    },
  };
  const publicUrl = 'https://ask.example';
  const made = createMailer({ transport, concurrency: 10, publicUrl, dkim: null, bounceDomain });
  return { sent, send: made.send };
}

test('envelope is ASCII for any domain', async () => {
  const { sent, send } = mailer();
  assert.deepEqual(await send(claimed), accepted);
  assert.partialDeepStrictEqual(sent, [
    { from: 'hello@xn--bcker-gra.example', to: 'Ada@example.com' },
  ]);
});

test('return path names the mail if a bounce domain is set', async () => {
  const { sent, send } = mailer({ bounceDomain: 'bounces.example' });
  await send(claimed);
  assert.equal(sent[0]?.from, 'bounce+0b6f8f0e-5a52-4c58-9f39-1f2f3a4b5c6d@bounces.example');
});

test('each contact gets its own link and name', async () => {
  const { sent, send } = mailer();
  const survey = { ...claimed.survey, question_text: 'And now?' };
  await send(claimed);
  await send({ ...claimed, name: 'Zoë', token: 'tok_2' });
  await send({ ...claimed, survey });
  const mails = await Promise.all(sent.map(({ message }) => PostalMime.parse(message)));
  assert.deepEqual(
    mails.map(({ text = '' }) => [text.split('\n')[0], /s\/(\w+)\?/.exec(text)?.[1]]),
    [
      ['Hello Ada,', 'tok_1'],
      ['Hello Zoë,', 'tok_2'],
      ['Hello Ada,', 'tok_1'],
    ],
  );
  assert.deepEqual(mails.map(({ subject }) => subject).slice(1), [
    'How likely are you to recommend us?',
    'And now?',
  ]);
});

test('reminder has its own subject or reuses the first one', async () => {
  const { sent, send } = mailer();
  const reminders = [{ after_days: 3 }, { after_days: 7, subject: 'Last call' }];
  const survey = { ...claimed.survey, reminders };
  for (const reminder of [0, 1, 2]) {
    await send({ ...claimed, survey, reminder, reminds_of: reminder > 0 ? claimed.id : null });
  }
  const mails = await Promise.all(sent.map(({ message }) => PostalMime.parse(message)));
  const question = 'How likely are you to recommend us?';
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    [question, question, 'Last call'],
  );
});

for (const said of [rejected('550 5.1.1 no'), busy(), lost(), unanswered('silence')]) {
  const what = said.kind === 'refused' ? said.response : said.kind;
  test(`mailer returns the reply of the server: ${what}`, async () => {
    assert.deepEqual(await mailer({ answer: said }).send(claimed), said);
  });
}

const rejectAddress = 'ada@example.com\r\nRCPT TO:<eve@example.com>';
const undeliverable: [what: string, email: string, from: string, response: string][] = [
  ['contact', rejectAddress, claimed.survey.from_email, 'email cannot be sent to this address'],
  [
    'sender',
    claimed.email,
    rejectAddress,
    'email cannot be sent from the sender address of the survey',
  ],
  [
    'contact, and so is its sender,',
    rejectAddress,
    rejectAddress,
    'email cannot be sent to this address',
  ],
];
for (const [what, email, from_email, response] of undeliverable) {
  test(`invalid address of a ${what} is refused without connecting`, async () => {
    const { sent, send } = mailer();
    const outcome = await send({ ...claimed, email, survey: { ...claimed.survey, from_email } });
    assert.partialDeepStrictEqual(outcome, { kind: 'refused', permanent: true, response });
    assert.deepEqual(sent, []);
  });
}
