import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSmtpUrl } from '../../../src/lib/smtp/settings.ts';

test('a URL without parameters has the defaults', () => {
  assert.deepEqual(readSmtpUrl('smtp://mail.example.com'), {
    complaints: [],
    settings: {
      host: 'mail.example.com',
      port: 587,
      tls: 'opportunistic',
      verify: true,
      auth: null,
      helo: null,
      connections: 10,
      messagesPerConnection: 500,
      messagesPerSecond: null,
      connectTimeoutMs: 10_000,
      silenceTimeoutMs: 30_000,
      wholeTimeoutMs: 120_000,
    },
  });
});

test('every setting can be given in the URL', () => {
  const { settings, complaints } = readSmtpUrl(
    'smtp://ada%40example.com:p%26ss@[::1]:2525?tls=none&verify=no&name=ask.example&connections=20&messages=7&rate=50&connect_timeout=1&silence_timeout=2&message_timeout=3',
  );
  assert.deepEqual(complaints, []);
  assert.deepEqual(settings, {
    host: '::1',
    port: 2525,
    tls: 'none',
    verify: false,
    auth: { user: 'ada@example.com', pass: 'p&ss' },
    helo: 'ask.example',
    connections: 20,
    messagesPerConnection: 7,
    messagesPerSecond: 50,
    connectTimeoutMs: 1000,
    silenceTimeoutMs: 2000,
    wholeTimeoutMs: 3000,
  });
});

test('smtps uses implicit TLS on port 465', () => {
  const { settings } = readSmtpUrl('smtps://mail.example.com');
  assert.deepEqual([settings.tls, settings.port], ['implicit', 465]);
});

test('a password requires encryption by default', () => {
  assert.equal(readSmtpUrl('smtp://a:b@mail.example.com').settings.tls, 'required');
});

test('all mistakes are listed without the password', () => {
  const { complaints } = readSmtpUrl(
    'smtps://a:se%ZZcret@h?tls=some&verify=1&connections=0&rate=x&pool=9',
  );
  assert.deepEqual(complaints, [
    'takes no tls setting: smtps:// is encrypted from the start',
    'verify must be yes or no',
    'has a user or password that is not percent-encoded',
    'connections must be a whole number from 1 to 100',
    'rate must be a whole number from 0 to 100000',
    'has an unknown setting pool',
  ]);
});

const ranges: [name: string, least: number, most: number][] = [
  ['connections', 1, 100],
  ['messages', 1, 1_000_000],
  ['rate', 0, 100_000],
  ['connect_timeout', 1, 300],
  ['silence_timeout', 1, 600],
  ['message_timeout', 1, 3600],
];
for (const [name, least, most] of ranges) {
  test(`${name} is a whole number from ${least} to ${most}`, () => {
    const complaints = (value: number) =>
      readSmtpUrl(`smtp://mail.test?${name}=${value}`).complaints;
    assert.deepEqual([complaints(least), complaints(most)], [[], []]);
    const complaint = `${name} must be a whole number from ${least} to ${most}`;
    assert.deepEqual([complaints(least - 1), complaints(most + 1)], [[complaint], [complaint]]);
  });
}
