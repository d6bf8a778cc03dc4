import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { attempt } from '../../src/webhooks/deliver.ts';
import { recordSpans } from '../support/fakes/tracer.ts';

test('all webhooks of an organization share its part of the connections to a host', async () => {
  const orgId = randomUUID();
  const groups = [
    ...(await attemptOf(orgId, randomUUID())),
    ...(await attemptOf(orgId, randomUUID())),
  ];
  assert.deepEqual(groups, [orgId, orgId]);
});

const causing = '0af7651916cd43dd8448eb211c80319c';

/** From an hour on the trace of the cause is a link. */
for (const [minutes, isPart] of [
  [0, true],
  [59, true],
  [61, false],
] as const) {
  test(`an attempt ${minutes} minutes after its event is ${isPart ? 'part of' : 'linked to'} the trace of its cause`, async (t) => {
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

type Traced = Pick<Parameters<typeof attempt>[1], 'traceparent' | 'created_at'>;

async function attemptOf(
  orgId: string,
  webhookId: string,
  traced: Traced = { traceparent: null, created_at: new Date() },
) {
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const groups: string[] = [];
  const outbound = {
    post: async (_url: string, { group }: { group: string }) => {
      groups.push(group);
      return {
        ...{ statusCode: 200, body: '', retryAfterSeconds: null },
        ...{ error: null, errorKind: null, durationMs: 1 },
      };
    },
  };
  await attempt(
    { outbound, secrets, settings: { serviceName: 'Askback' } },
    {
      ...{ id: randomUUID(), message_id: randomUUID(), org_id: orgId, webhook_id: webhookId },
      ...{ event: 'survey.completed', body: '{}', attempts: 0, url: 'https://hooks.example/' },
      secret: secrets.seal({ owner: orgId, id: webhookId }, 'whsec'),
      retries: 'standard',
      ...{ previous_secret: null, ...traced },
    },
  );
  return groups;
}
