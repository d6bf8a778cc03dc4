import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import {
  countUnreadableSecrets,
  healthRoutes,
  wrongKeySentence,
} from '../../src/operations/health.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const [present, previous, lost] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [
  Buffer,
  Buffer,
  Buffer,
];

async function makeSealedWebhook(orgId: string, key: Buffer) {
  const id = randomUUID();
  const secret = createSecrets([key]).seal({ owner: orgId, id }, 'whsec_x');
  await db`
    insert into webhooks (id, org_id, url, events, secret)
    values (${id}, ${orgId}, 'https://a.example', '{response.received}', ${secret})`;
}

test('countUnreadableSecrets counts webhooks that no key opens', async () => {
  const org = await makeOrganization(db);
  const secrets = createSecrets([present, previous]);
  await makeSealedWebhook(org, present);
  await makeSealedWebhook(org, previous);
  assert.equal(await countUnreadableSecrets(db, secrets), 0);
  await makeSealedWebhook(org, lost);
  await makeSealedWebhook(org, lost);
  assert.equal(await countUnreadableSecrets(db, secrets), 2);
});

test('wrongKeySentence names the number of webhooks', () => {
  assert.equal(wrongKeySentence(0), undefined);
  assert.match(wrongKeySentence(1)!, /not the key that the secret of 1 webhook was encrypted with/);
  assert.match(wrongKeySentence(2)!, /that the secrets of 2 webhooks were encrypted with/);
});

test('/readyz warns about a wrong secret key and stays ready', async () => {
  const secrets = () => wrongKeySentence(2);
  const answer = await healthRoutes({}, { secrets }).request('/readyz');
  const body = (await answer.json()) as { status: string; warnings: { secrets: string } };
  assert.deepEqual([answer.status, body.status], [200, 'ready']);
  assert.match(body.warnings.secrets, /^ASKBACK_SECRET_KEY .* 2 webhooks/);
});
