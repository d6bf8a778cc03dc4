import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createDkimSigner } from '../../../src/lib/smtp/dkim.ts';
import { compose, slot } from '../../../src/lib/smtp/message.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const settings = { domain: 'baecker.example', selector: 's1', key: pem };

const message = compose({
  from: { name: 'Bäcker', address: 'hallo@baecker.example' },
  replyTo: null,
  subject: 'Wie war’s?',
  headers: {
    'List-Unsubscribe': `<https://ask.example/u/${slot('token')}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
  text: `Hello  ${slot('name')} \n\n\n`,
  html: `<p>Hello ${slot('name')}</p>`,
})({
  to: { name: 'Zoë', address: 'zoe@example.com' },
  messageId: 'send-1@ask.example',
  date: new Date('2026-03-01T08:09:10Z'),
  slots: { name: 'Zoë', token: 'tok' },
});

/** The result of an independent verifier with our public key in its DNS. */
async function verify(signed: Buffer) {
  const publicKey = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const { results } = await dkimVerify(signed, {
    resolver: async (name: string) => {
      assert.equal(name, 's1._domainkey.baecker.example');
      return [[`v=DKIM1; k=rsa; p=${publicKey}`]];
    },
  });
  return results[0]?.status?.result;
}

async function sign() {
  const signer = createDkimSigner(settings);
  assert.ok(typeof signer === 'function');
  return signer(message);
}

test('an independent verifier accepts the signature', async () => {
  assert.equal(await verify(await sign()), 'pass');
});

for (const [what, from, to] of [
  ['the one-click header', 'List-Unsubscribe=One-Click', 'List-Unsubscribe=Two-Click'],
  ['the unsubscribe link', 'ask.example/u/', 'evil.example/u/'],
  ['the subject', /Subject: .*/, 'Subject: other'],
  ['a word of the body', 'Hello', 'Hallo'],
  ['a second From above the first', 'To: ', 'From: eve@example.com\r\nTo: '],
] as const) {
  test(`the signature breaks with ${what}`, async () => {
    const signed = (await sign()).toString('latin1');
    const changed = signed.replace(from, to);
    assert.notEqual(changed, signed);
    assert.notEqual(await verify(Buffer.from(changed, 'latin1')), 'pass');
  });
}

test('a base64 key without its PEM frame is rejected', () => {
  assert.equal(
    createDkimSigner({ ...settings, key: 'aGVsbG8=' }),
    'the DKIM key is not a private key in PEM form',
  );
});

test('a key of 1,024 bits signs, and a shorter one is rejected', () => {
  const signerWith = (modulusLength: number) => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    return createDkimSigner({ ...settings, key });
  };
  assert.equal(typeof signerWith(1024), 'function');
  assert.equal(signerWith(1023), 'the DKIM key has 1023 bits, fewer than 1024');
});

test('an Ed25519 key is rejected', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  assert.match(String(createDkimSigner({ ...settings, key })), /is ed25519; it must be RSA/);
});
