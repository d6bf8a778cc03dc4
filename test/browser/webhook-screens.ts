import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { newSecret } from '../../src/webhooks/deliver.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeWebhook } from '../support/make/rows.ts';
import type { BrowserScene, ScreenEntry } from './scene.ts';

const webhook = {
  id: '5d2f3a90-0f4c-4b6e-9d0a-6a1f4c2b7e11',
  url: 'https://hooks.example.com/feedback',
  events: ['response.received', 'detractor.detected', 'summary.generated'],
  description: 'Help desk',
};

/** Path of a webhook with a month of deliveries, some of them failed. Created once. */
async function webhookPath({ db, full }: BrowserScene): Promise<string> {
  const here = `/o/${full.slug}/webhooks/${webhook.id}`;
  const [known] = await db`select from webhooks where id = ${webhook.id}`;
  if (known) return here;
  const secrets = createSecrets([Buffer.alloc(32, 1)]);
  const secret = secrets.seal({ owner: full.id, id: webhook.id }, newSecret());
  await makeWebhook(db, full.id, { ...webhook, secret, last_delivery_at: new Date() });
  await addDeliveries(db, ...Array.from({ length: 800 }, (_, n) => deliveryOf(full.id, n + 1)));
  await db`
    insert into delivery_attempts (org_id, webhook_id, delivery_id, number, status_code, duration_ms, response_body, at)
    select org_id, webhook_id, id, number, status_code, 100 + (number * 40), 'busy', created_at
    from deliveries, generate_series(1, attempts) number
    where webhook_id = ${webhook.id}`;
  return here;
}

function deliveryOf(org_id: string, n: number) {
  const outcome =
    n % 41 === 0
      ? { status: 'failed', attempts: 2, status_code: 503 }
      : { status: 'delivered', attempts: 1, status_code: 200 };
  return {
    org_id,
    webhook_id: webhook.id,
    body: '{"version":"1","score":9}',
    event: n % 7 === 0 ? 'detractor.detected' : 'response.received',
    ...outcome,
    created_at: new Date(Date.now() - n * 47 * 60_000),
  };
}

/** Path of a delivery with this outcome. */
const deliveryPath = (status: 'skipped' | 'delivered') => async (scene: BrowserScene) => {
  const here = await webhookPath(scene);
  const body = '{"version":"1","score":9,"comment":"The delivery came a day late."}';
  const of = { org_id: scene.full.id, webhook_id: webhook.id };
  const [id] = await addDeliveries(scene.db, { ...of, body, status, ...answers[status] });
  if (status === 'delivered') await addAttempts(scene.db, id!);
  return `${here}/deliveries/${id}`;
};

const answers = { skipped: {}, delivered: { attempts: 2, status_code: 200 } };

/** A failed attempt and one that delivered. */
const addAttempts = (db: BrowserScene['db'], id: string) => db`
  insert into delivery_attempts (org_id, webhook_id, delivery_id, number, status_code, duration_ms, response_body, at)
  select org_id, webhook_id, id, number, code, 140, said, now() - seconds * interval '1 second'
  from deliveries,
       (values (1, 503, 'busy', 36), (2, 200, '{"received":true}', 6)) attempt (number, code, said, seconds)
  where id = ${id}`;

export const webhookEntries: readonly ScreenEntry[] = [
  { name: 'webhooks-empty', as: 'viewer', path: ({ empty }) => `/o/${empty.slug}/webhooks` },
  { name: 'webhook-new', as: 'editor', path: ({ full }) => `/o/${full.slug}/webhooks/new` },
  { name: 'webhook', as: 'editor', path: webhookPath },
  { name: 'webhook-viewer', as: 'viewer', path: webhookPath },
  {
    name: 'webhook-rotate-secret',
    as: 'editor',
    path: async (scene) => `${await webhookPath(scene)}/rotate-secret`,
  },
  { name: 'webhooks', as: 'editor', path: ({ full }) => `/o/${full.slug}/webhooks` },
  { name: 'webhook-edit', as: 'editor', path: async (scene) => `${await webhookPath(scene)}/edit` },
  {
    name: 'webhook-replay',
    as: 'editor',
    path: async (scene) => `${await webhookPath(scene)}/replay`,
  },
  {
    name: 'webhook-delete',
    as: 'editor',
    path: async (scene) => `${await webhookPath(scene)}/delete`,
  },
  { name: 'webhook-delivery', as: 'editor', path: deliveryPath('delivered') },
  { name: 'webhook-delivery-skipped', as: 'editor', path: deliveryPath('skipped') },
];
