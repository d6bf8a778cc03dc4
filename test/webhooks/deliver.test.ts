import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { attempt } from '../../src/webhooks/deliver.ts';

test('all webhooks of an organization share its part of the connections to a host', async () => {
  const orgId = randomUUID();
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
  for (const webhookId of [randomUUID(), randomUUID()]) {
    await attempt(
      { outbound, secrets, settings: { serviceName: 'Askback' } },
      {
        ...{ id: randomUUID(), message_id: randomUUID(), org_id: orgId, webhook_id: webhookId },
        ...{ event: 'survey.completed', body: '{}', attempts: 0, url: 'https://hooks.example/' },
        secret: secrets.seal({ owner: orgId, id: webhookId }, 'whsec'),
        retries: 'standard',
        ...{ previous_secret: null, traceparent: null, created_at: new Date() },
      },
    );
  }
  assert.deepEqual(groups, [orgId, orgId]);
});
