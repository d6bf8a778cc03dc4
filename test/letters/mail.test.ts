import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrivedMail, sendId } from '../support/make/survey-mail.ts';

for (const [type, scores] of [
  ['nps', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['csat', [1, 2, 3, 4, 5]],
  ['thumbs', [1, 0]],
] as const) {
  test(`${type}: both parts offer each score once, in order`, async () => {
    const { text, html } = await arrivedMail({ survey: { type } });
    const links = scores.map((score) => `https://ask.example/s/tok_1?score=${score}`);
    assert.deepEqual(text.match(/https:\S+\?score=\d+/g), links);
    assert.deepEqual(html.match(/https:[^"]+\?score=\d+/g), links);
  });
}

test('a mail has sender, recipient, subject and a stable Message-ID', async () => {
  const { from, to, replyTo, subject, messageId } = await arrivedMail();
  assert.deepEqual(from, { name: 'Baker & Sons', address: 'hello@baker.example' });
  assert.deepEqual(to, [{ name: 'Ada', address: 'ada@example.com' }]);
  assert.deepEqual(replyTo, [{ name: '', address: 'reply@baker.example' }]);
  assert.equal(subject, 'How likely are you to recommend us?');
  assert.equal(messageId, `<${sendId}@ask.example>`);
});

test("the subject is the survey's own, on one line", async () => {
  assert.equal((await arrivedMail({ survey: { subject: 'A word?' } })).subject, 'A word?');
  const { subject } = await arrivedMail({ survey: { question_text: 'One\nBcc: eve@example.com' } });
  assert.equal(subject, 'One Bcc: eve@example.com');
});

test('a mail has one-click unsubscribe and a link in both parts', async () => {
  const { headers, text, html } = await arrivedMail();
  const header = (name: string) => headers.find(({ key }) => key === name)?.value;
  assert.equal(header('list-unsubscribe'), '<https://ask.example/u/tok_1>');
  assert.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  assert.match(text, /Unsubscribe: https:\/\/ask\.example\/u\/tok_1\n/);
  assert.match(html, /<a[^>]* href="https:\/\/ask\.example\/u\/tok_1"[^>]*>Unsubscribe<\/a>/);
});

test('a mail says why it was sent, and to which address', async () => {
  for (const part of ['text', 'html'] as const) {
    const customer = await arrivedMail({ organization: { name: 'Acme' } });
    assert.match(
      customer[part],
      /because Acme would like your feedback\. It was sent to ada@example\.com\./,
    );
    const employee = await arrivedMail({ survey: { audience: 'employee' } });
    assert.match(employee[part], /asks the people who work there/);
  }
});

test('a mail loads, runs and tracks nothing', async () => {
  const { html } = await arrivedMail();
  assert.doesNotMatch(
    html,
    /<(img|script|link|iframe|object|form|video|svg)\b|url\(|\bsrc=|@import|\bon\w+=/i,
  );
});

test('a mail stays far below the size that Gmail clips', async () => {
  assert.ok((await arrivedMail()).raw.length < 20_000);
});

test('names of organizations and contacts are escaped', async () => {
  const evil = '</style><script>alert(1)</script>"';
  const { html } = await arrivedMail({
    survey: { question_text: evil, from_name: evil },
    organization: { name: evil },
    name: evil,
  });
  assert.doesNotMatch(html, /<script/);
  assert.equal(html.match(/&lt;script&gt;/g)?.length, 5);
});

test('only the HTML part has the hidden trap link', async () => {
  const { html, text } = await arrivedMail();
  assert.match(
    html,
    /<div style="display:none[^>]*aria-hidden="true"><a href="https:\/\/ask\.example\/s\/tok_1\/x" tabindex="-1">/,
  );
  assert.doesNotMatch(text, /tok_1\/x/);
});

test('regional languages use their language, and unknown ones use English', async () => {
  assert.match((await arrivedMail({ survey: { language: 'de-AT' } })).text, /^Guten Tag Ada,/);
  const swedish = await arrivedMail({ survey: { language: 'sv', question_text: 'Hur mår du?' } });
  assert.match(swedish.html, /<html lang="en" dir="ltr">/);
  assert.match(swedish.html, /<h1[^>]* lang="sv"/);
});

test('both parts have the footer and postal address as text', async () => {
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
