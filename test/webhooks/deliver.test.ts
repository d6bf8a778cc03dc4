import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { attempt } from '../../src/webhooks/deliver.ts';

test('webhooks of an organization share its connections to a host', async () => {
  const orgId = randomUUID();
  const groups = [...(await groupsOf(orgId)), ...(await groupsOf(orgId))];
  assert.deepEqual(groups, [orgId, orgId]);
});

async function groupsOf(orgId: string) {
  const webhookId = randomUUID();
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
  await attempt(
    { outbound, secrets, settings: { serviceName: 'Askback' } },
    {
      id: randomUUID(),
      message_id: randomUUID(),
      org_id: orgId,
      webhook_id: webhookId,
      event: 'survey.completed',
      body: '{}',
      attempts: 0,
      traceparent: null,
      created_at: new Date(),
    },
    {
      active: true,
      url: 'https://hooks.example/',
      retries: 'standard',
      secret: secrets.seal({ owner: orgId, id: webhookId }, 'whsec'),
      previous_secret: null,
      previous_secret_until: null,
      updated_at: new Date(),
    },
  );
  return groups;
}
