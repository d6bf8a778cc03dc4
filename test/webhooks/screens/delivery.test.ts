import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import { deliveryHeaders } from '../../../src/webhooks/deliver.ts';
import {
  duration,
  explain,
  sentHeaders,
  shortUrl,
  standingOf,
} from '../../../src/webhooks/screens/delivery.tsx';

test('every status of a delivery has its own sentence', () => {
  const result = { status_code: null, error: 'no response within 10 s' };
  const states = [
    { status: 'pending', attempts: 0 },
    { status: 'pending', attempts: 1 },
    { status: 'failed', attempts: 2 },
    { status: 'skipped', attempts: 0 },
    { status: 'skipped', attempts: 3 },
    { status: 'delivered', attempts: 2 },
  ] as const;
  const sentences = states.map((state) => explain(state, result));
  assert.equal(new Set(sentences).size, states.length);
  assert.match(sentences[1]!, /Attempt 1 failed: no response within 10 s/);
  assert.match(sentences[4]!, /turned off after 3 failed attempts/);
  const gone = explain({ status: 'failed', attempts: 1 }, { status_code: 410, error: null });
  assert.match(gone, /after 1 attempt: status 410/);
});

test('a webhook is shown as off, failing, new or working', () => {
  const webhook = {
    active: true,
    deactivated_reason: null,
    failure_count: 0,
    last_delivery_at: null,
  };
  assert.equal(standingOf(webhook).kind, 'waiting');
  assert.equal(standingOf({ ...webhook, last_delivery_at: new Date() }).kind, 'fine');
  assert.equal(standingOf({ ...webhook, failure_count: 1 }).kind, 'warning');
  assert.equal(standingOf({ ...webhook, active: false }).kind, 'skipped');
  const off = { ...webhook, active: false, deactivated_reason: 'turned off manually' };
  assert.equal(standingOf(off).kind, 'skipped');
  assert.equal(standingOf({ ...off, deactivated_reason: '3 in a row' }).kind, 'failed');
});

test('the short URL omits possible secrets', () => {
  assert.equal(shortUrl('https://user:pass@hooks.test/a/b?key=1#x'), 'hooks.test/a/b');
  assert.equal(shortUrl('https://hooks.test/'), 'hooks.test');
});

test('headers are signed with the secrets that were valid at the time', () => {
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const spelled = (letter: number) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;
  const sealed = (letter: number) => secrets.seal({ owner: 'org', id: 'webhook' }, spelled(letter));
  const rotatedAt = new Date('2026-05-01T12:00:00Z');
  const target = {
    secret: sealed(2),
    previous_secret: sealed(1),
    previous_secret_until: new Date(rotatedAt.getTime() + 86_400_000),
  };
  const delivery = { id: 'd', message_id: 'm', event: 'response.received', body: '{}' };
  const sentAt = (at: Date, rotation: object = {}) => {
    const of = { orgId: 'org', webhookId: 'webhook', target: { ...target, ...rotation } };
    return sentHeaders({ secrets, settings: { serviceName: 'Service' } }, { delivery, at, ...of });
  };
  const signedBy = (at: Date, [secret, previous]: [number, number?]) =>
    Object.entries(
      deliveryHeaders('Service', {
        id: 'd',
        message_id: 'm',
        event: 'response.received',
        body: '{}',
        at,
        secret: spelled(secret),
        previousSecret: previous ? spelled(previous) : null,
      }),
    );
  const dayMs = 86_400_000;
  const cases: [sinceRotationMs: number, letters: [number, number?]][] = [
    [-1, [1]],
    [0, [2, 1]],
    [dayMs - 1, [2, 1]],
    [dayMs, [2]],
  ];
  for (const [sinceRotationMs, letters] of cases) {
    const at = new Date(rotatedAt.getTime() + sinceRotationMs);
    assert.deepEqual(sentAt(at), signedBy(at, letters), `${sinceRotationMs} ms after it`);
  }
  const never = { previous_secret: null, previous_secret_until: null };
  assert.deepEqual(sentAt(rotatedAt, never), signedBy(rotatedAt, [2]));
  const before = new Date(rotatedAt.getTime() - 1);
  const deleted = { previous_secret: null };
  assert.deepEqual(sentAt(before, deleted), signedBy(before, [2]), 'the older one is gone');
});

test('durations are in milliseconds below one second', () => {
  assert.deepEqual([0, 999, 1000, 10_249].map(duration), ['0 ms', '999 ms', '1.0 s', '10.2 s']);
});
