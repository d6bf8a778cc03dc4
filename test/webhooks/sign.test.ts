import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { deliveryHeaders, spellSecret } from '../../src/webhooks/deliver.ts';

const [secret, previous] = [1, 2].map((byte) => spellSecret(new Uint8Array(32).fill(byte)));
const body = '{"version":"1","name":"Zoë – 名前"}';

const headers = (previousSecret: string | null) =>
  deliveryHeaders('Acme', {
    id: 'd-1',
    message_id: 'm-1',
    event: 'response.received',
    body,
    at: new Date(),
    secret: secret!,
    previousSecret,
  });

/** Created with openssl: `dgst -hmac` with the secret as text, and `-macopt hexkey:` with its bytes. */
test('signatures match another implementation', () => {
  const sent = deliveryHeaders('Acme', {
    id: 'd-1',
    message_id: 'e902893a-9d22-3c7e-a7b8-d6e313b71d9f',
    event: 'response.received',
    body: '{"version":"1","comment":"größer ✓"}',
    at: new Date('2026-01-02T03:04:05.678Z'),
    secret: spellSecret(new Uint8Array(32).fill(7)),
    previousSecret: null,
  });
  assert.equal(
    sent['X-Acme-Signature'],
    '706bf175fd26b8a5dc6230fc022b778cd28b598b5e02d7de3086574719a6197e',
  );
  assert.equal(sent['webhook-timestamp'], '1767323045');
  assert.equal(sent['webhook-signature'], 'v1,x0KFzr0L8T4ramhlpL12GaZNg9rCIrHFx0A6B/UDa+k=');
});

test('the Standard Webhooks library accepts a delivery', () => {
  assert.deepEqual(new Webhook(secret!).verify(body, headers(null)), JSON.parse(body));
});

test('the library accepts both secrets during a rotation', () => {
  for (const key of [secret!, previous!]) new Webhook(key).verify(body, headers(previous!));
  assert.throws(() => new Webhook(previous!).verify(body, headers(null)));
});
