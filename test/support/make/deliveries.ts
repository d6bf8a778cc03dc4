import { randomUUID } from 'node:crypto';
import { type Db, one, type Sql } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import type { SubscriberClient } from '../../../src/webhooks/deliver.ts';
import type { WebhookRef } from '../../../src/webhooks/delivery.queries.ts';
import {
  type EmittedDelivery,
  emission,
  emit,
  type NewEvents,
} from '../../../src/webhooks/emit.ts';
import { createDeliveryWorker } from '../../../src/webhooks/worker.ts';
import { plainSecrets } from '../fakes/subscriber.ts';
import { makeOrganization, makeWebhook } from './rows.ts';

/** A worker pool that counts as alive while its row exists. */
export async function makePool(db: Sql) {
  const pool_id = `pool-${randomUUID()}`;
  await db`insert into worker_pools ${db({ pool_id, session: 'none', session_role: 'none' })}`;
  return pool_id;
}

export const workerOf = (
  db: Db,
  outbound: SubscriberClient,
  claimer: string,
  log = createLog({ level: 'silent' }),
) =>
  createDeliveryWorker({
    db,
    log,
    outbound,
    secrets: plainSecrets,
    settings: { serviceName: 'Service' },
    claimer: () => claimer,
  });

const event = { type: 'response.received', body: '{"version":"1"}' } as const;

/** A webhook in its own organization with due deliveries. */
export async function makeBacklog(db: Db, events: number): Promise<WebhookRef> {
  const org_id = await makeOrganization(db);
  const webhook_id = await makeWebhook(db, org_id);
  await emitTo(db, org_id, events);
  return { org_id, webhook_id };
}

/** Emits events of an organization to all of its webhooks. */
export const emitTo = (db: Db, orgId: string, events: number) =>
  emit(db, { orgId, events: Array.from({ length: events }, () => event) });

export async function countDeliveries(db: Db, target: WebhookRef, status: string): Promise<number> {
  return one(
    await db<{ count: number }[]>`
      select count(*)::int as count from deliveries
      where webhook_id = ${target.webhook_id} and status = ${status}`,
  ).count;
}

/** Emits under the lease of a worker, like the statement of an answer. `start` hands the deliveries over. */
export async function emitOwned(db: Db, worker: ReturnType<typeof workerOf>, events: NewEvents) {
  const added = { ...events, owner: worker.owner() };
  const [row] = await db<{ emitted: EmittedDelivery[] | null }[]>`
    with ${emission(db, [added])}
    select emitted from deliveries_of`;
  return { start: () => worker.start(added, row?.emitted ?? []) };
}
