import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surveyTypes } from '../../src/survey-types.ts';
import { arrivedMail, sendId } from '../support/make/survey-mail.ts';

const scores = {
  nps: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  csat: [1, 2, 3, 4, 5],
  ces: [1, 2, 3, 4, 5, 6, 7],
  star5: [1, 2, 3, 4, 5],
  thumbs: [1, 0],
};

for (const type of surveyTypes) {
  test(`${type}: both parts offer each of its scores, once, in order`, async () => {
    const { text, html } = await arrivedMail({ survey: { type } });
    const links = scores[type].map((score) => `https://ask.example/s/tok_1?score=${score}`);
    assert.deepEqual(text.match(/https:\S+\?score=\d+/g), links);
    assert.deepEqual(html.match(/https:[^"]+\?score=\d+/g), links);
  });
}

test('the envelope of words: sender, recipient, subject, and the same id at each attempt', async () => {
  const { from, to, replyTo, subject, messageId } = await arrivedMail();
  assert.deepEqual(from, { name: 'Baker & Sons', address: 'hello@baker.example' });
  assert.deepEqual(to, [{ name: 'Ada', address: 'ada@example.com' }]);
  assert.deepEqual(replyTo, [{ name: '', address: 'reply@baker.example' }]);
  assert.equal(subject, 'How likely are you to recommend us?');
  assert.equal(messageId, `<${sendId}@ask.example>`);
});

test('the subject is the survey’s own if it has one, and one line in any case', async () => {
  assert.equal((await arrivedMail({ survey: { subject: 'A word?' } })).subject, 'A word?');
  const { subject } = await arrivedMail({ survey: { question_text: 'One\nBcc: eve@example.com' } });
  assert.equal(subject, 'One Bcc: eve@example.com');
});

test('unsubscribing takes one click in the mail program and one link in either part', async () => {
  const { headers, text, html } = await arrivedMail();
  const header = (name: string) => headers.find(({ key }) => key === name)?.value;
  assert.equal(header('list-unsubscribe'), '<https://ask.example/u/tok_1>');
  assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  assert.match(text, /Unsubscribe: https:\/\/ask\.example\/u\/tok_1\n/);
  assert.match(html, /<a[^>]* href="https:\/\/ask\.example\/u\/tok_1"[^>]*>Unsubscribe<\/a>/);
});

test('a mail says why it came and to which address', async () => {
  for (const part of ['text', 'html'] as const) {
    const customer = await arrivedMail({ organization: { name: 'Acme' } });
    assert.match(
      customer[part],
      /because Acme would like to know how it did\. It was sent to ada@example\.com\./,
    );
    const employee = await arrivedMail({ survey: { audience: 'employee' } });
    assert.match(employee[part], /asks the people who work there/);
  }
});

test('nothing in it is loaded, run or tracked', async () => {
  const { html } = await arrivedMail();
  assert.doesNotMatch(
    html,
    /<(img|script|link|iframe|object|form|video|svg)\b|url\(|\bsrc=|@import|\bon\w+=/i,
  );
});

test('a mail stays far below the size at which Gmail cuts a mail off', async () => {
  assert.ok((await arrivedMail()).raw.length < 20_000);
});

test('what an organization or a contact is called stays text', async () => {
  const evil = '</style><script>alert(1)</script>"';
  const { html } = await arrivedMail({
    survey: { question_text: evil, from_name: evil },
    organization: { name: evil },
    name: evil,
  });
  assert.doesNotMatch(html, /<script/);
  assert.equal(html.match(/&lt;script&gt;/g)?.length, 5);
});

test('the trap is in the HTML part alone, where no reader sees it', async () => {
  const { html, text } = await arrivedMail();
  assert.match(
    html,
    /<div style="display:none[^>]*aria-hidden="true"><a href="https:\/\/ask\.example\/s\/tok_1\/x" tabindex="-1">/,
  );
  assert.doesNotMatch(text, /tok_1\/x/);
});

test('a regional language has the texts of its language, an unknown one English', async () => {
  assert.match((await arrivedMail({ survey: { language: 'de-AT' } })).text, /^Guten Tag Ada,/);
  const swedish = await arrivedMail({ survey: { language: 'sv', question_text: 'Hur mår du?' } });
  assert.match(swedish.html, /<html lang="en" dir="ltr">/);
  assert.match(swedish.html, /<h1[^>]* lang="sv"/);
});

test('a logo, words of the organization and its postal address stand in both parts, as text', async () => {
  const organization = {
    logo: 'abc.png',
    mail_foot: 'You bought <b>from</b> us.',
    postal_address: '1 Quay\n0150 Oslo',
  };
  const { text, html } = await arrivedMail({ organization });
  const url = 'https://ask.example/logos/9d3c7f64-1111-4222-8333-444455556666/abc.png';
  assert.match(html, new RegExp(`<img src="${url}" alt=""`));
  assert.match(html, /You bought &lt;b&gt;from&lt;\/b&gt; us\./);
  assert.match(html, /1 Quay<br\/?>0150 Oslo/);
  assert.match(text, /You bought <b>from<\/b> us\.\n\n1 Quay\n0150 Oslo\n/);
});
