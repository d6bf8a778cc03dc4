import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecrets } from '../../../src/lib/crypto/secrets.ts';
import { explain, shortUrl, standingOf } from '../../../src/webhooks/screens/delivery.rules.ts';
import { sentHeaders } from '../../../src/webhooks/screens/sent-headers.ts';

test('every way in which a delivery stands has its sentence', () => {
  const delivery = { status_code: null, error: 'no answer within 10 s' };
  const states = [
    { status: 'pending', attempts: 0 },
    { status: 'pending', attempts: 1 },
    { status: 'failed', attempts: 2 },
    { status: 'skipped', attempts: 0 },
    { status: 'skipped', attempts: 3 },
    { status: 'delivered', attempts: 2 },
  ] as const;
  const sentences = states.map((state) => explain({ ...delivery, ...state }));
  assert.equal(new Set(sentences).size, states.length);
  assert.match(sentences[1]!, /attempt 1 failed with: no answer within 10 s/);
  assert.match(sentences[4]!, /3 attempts failed.*; then the webhook was switched off/);
  const gone = { status: 'failed', attempts: 1, status_code: 410, error: null } as const;
  assert.match(explain(gone), /the attempt failed, the last with: status 410/);
});

test('a webhook stands as off, failing, new or working', () => {
  const webhook = {
    ...{ active: true, failure_count: 0, deactivated_reason: null, last_delivery_at: null },
  };
  assert.equal(standingOf(webhook).kind, 'waiting');
  assert.equal(standingOf({ ...webhook, last_delivery_at: new Date() }).kind, 'fine');
  assert.equal(standingOf({ ...webhook, failure_count: 1 }).kind, 'warning');
  assert.equal(standingOf({ ...webhook, active: false }).kind, 'failed');
});

test('what may be a secret in an address is not in its short form', () => {
  assert.equal(shortUrl('https://user:pass@hooks.test/a/b?key=1#x'), 'hooks.test/a/b');
  assert.equal(shortUrl('https://hooks.test/'), 'hooks.test');
});

test('headers are signed with the secrets of the time of the attempt', () => {
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const sealed = (letter: number) =>
    secrets.seal(
      { owner: 'org', id: 'webhook' },
      `whsec_${Buffer.alloc(32, letter).toString('base64')}`,
    );
  const rotatedAt = new Date('2026-05-01T12:00:00Z');
  const stored = {
    secret: sealed(2),
    previous_secret: sealed(1),
    previous_secret_until: new Date(rotatedAt.getTime() + 86_400_000),
  };
  const delivery = { id: 'd', message_id: 'm', event: 'response.received', body: '{}' };
  const signaturesAt = (at: string) => {
    const attempt = { delivery, at: new Date(at), orgId: 'org', webhookId: 'webhook', stored };
    const headers = sentHeaders({ secrets, settings: { serviceName: 'Service' } }, attempt);
    return new Map(headers).get('webhook-signature')!.split(' ');
  };
  const [older, newer] = [
    signaturesAt('2026-05-01T11:59:59.999Z'),
    signaturesAt('2026-05-02T12:00:00Z'),
  ];
  assert.deepEqual([older.length, newer.length], [1, 1]);
  assert.notDeepEqual(older, newer);
  assert.equal(signaturesAt('2026-05-01T12:00:00Z').length, 2);
  assert.equal(signaturesAt('2026-05-02T11:59:59.999Z').length, 2);
});
