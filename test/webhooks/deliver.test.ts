import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { attempt, toSignal } from '../../src/webhooks/deliver.ts';
import { recordSpans } from '../support/fakes/tracer.ts';

test('webhooks of an organization share its connections to a host', async () => {
  const orgId = randomUUID();
  const groups = [
    ...(await attemptOf(orgId, randomUUID())),
    ...(await attemptOf(orgId, randomUUID())),
  ];
  assert.deepEqual(groups, [orgId, orgId]);
});

const causing = '0af7651916cd43dd8448eb211c80319c';

/** After an hour, the trace of the cause becomes a link. */
for (const [minutes, isPart] of [
  [0, true],
  [59, true],
  [61, false],
] as const) {
  test(`an attempt after ${minutes} minutes is ${isPart ? 'part of' : 'linked to'} the trace`, async (t) => {
    const spans = recordSpans(t);
    const created_at = new Date(Date.now() - minutes * 60_000);
    const traceparent = `00-${causing}-b7ad6b7169203331-01`;
    await attemptOf(randomUUID(), randomUUID(), { traceparent, created_at });
    assert.deepEqual(
      spans.map(({ parentTrace, linkedTraces }) => [parentTrace, linkedTraces]),
      [isPart ? [causing, []] : [undefined, [causing]]],
    );
  });
}

for (const [before, resent] of [
  [0, undefined],
  [1, 1],
  [6, 6],
] as const) {
  test(`attempt ${before + 1} has its number in span and signal`, async (t) => {
    const spans = recordSpans(t);
    const { signal } = await attemptedOf({ attempts: before });
    const { 'askback.delivery.attempt': number, 'http.request.resend_count': count } =
      spans[0]!.attributes;
    assert.deepEqual([number, count, signal.attempt], [before + 1, resent, before + 1]);
  });
}

type Traced = Partial<Parameters<typeof attempt>[1]>;

async function attemptOf(org_id: string, webhook_id: string, traced: Traced = {}) {
  return (await attemptedOf({ org_id, webhook_id, ...traced })).groups;
}

async function attemptedOf(given: Traced) {
  const { org_id: orgId = randomUUID(), webhook_id: webhookId = randomUUID() } = given;
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const groups: string[] = [];
  const outbound = {
    post: async (_url: string, { group }: { group: string }) => {
      groups.push(group);
      return {
        statusCode: 200,
        body: '',
        retryAfterSeconds: null,
        error: null,
        errorKind: null,
        durationMs: 1,
      };
    },
  };
  const outcome = await attempt(
    { outbound, secrets, settings: { serviceName: 'Askback' } },
    {
      id: randomUUID(),
      message_id: randomUUID(),
      org_id: orgId,
      webhook_id: webhookId,
      event: 'survey.completed',
      body: '{}',
      attempts: 0,
      url: 'https://hooks.example/',
      secret: secrets.seal({ owner: orgId, id: webhookId }, 'whsec'),
      retries: 'standard',
      previous_secret: null,
      traceparent: null,
      created_at: new Date(),
      ...given,
    },
  );
  return { groups, signal: toSignal(outcome) };
}
