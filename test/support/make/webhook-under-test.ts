import type { Db } from '../../../src/lib/db/db.ts';
import type { SubscriberClient } from '../../../src/webhooks/deliver.ts';
import { emit } from '../../../src/webhooks/emit.ts';
import { changeWebhook, removeWebhook, renewSecret } from '../../../src/webhooks/manage.ts';
import { replay } from '../../../src/webhooks/replay.ts';
import type { Operation } from '../../webhooks/model.ts';
import { answerOf, plainSecrets } from '../fakes/subscriber.ts';
import { emitOwned, makePool, workerOf } from './deliveries.ts';
import { makeOrganization, makeWebhook, writeKeyOf } from './rows.ts';

type Held = { message: number; signatures: number; answer: (status: number) => void };

/** A webhook on Postgres with two delivering processes, and a subscriber that responds on command. */
export async function startWebhookUnderTest(db: Db, retries: 'standard' | 'extended') {
  const org_id = await makeOrganization(db);
  const id = await makeWebhook(db, org_id, { retries });
  const key = writeKeyOf(org_id);
  const tools = { db, secrets: plainSecrets, checkTarget: async () => null };
  const held = new Set<Held>();
  const outbound: SubscriberClient = {
    post: (_, { headers, body }) =>
      new Promise((resolve) => {
        const signatures = headers['webhook-signature']?.split(' ').length ?? 0;
        const message: number = JSON.parse(body).message;
        const entry = {
          message,
          signatures,
          answer: (status: number) => {
            held.delete(entry);
            resolve(answerOf(status));
          },
        };
        held.add(entry);
      }),
  };
  const pools = [await makePool(db), await makePool(db)];
  const processes = pools.map((pool) => workerOf(db, outbound, pool));
  const target = { org_id, webhook_id: id };

  /** Operations on a deleted or inactive webhook are rejected, which the model expects. */
  async function run(operation: Operation): Promise<unknown> {
    switch (operation.do) {
      case 'emit': {
        const body = JSON.stringify({ message: operation.message });
        const added = { orgId: org_id, events: [{ type: 'response.received', body }] } as const;
        if (operation.message % 2 === 0) return emit(db, added);
        return (await emitOwned(db, processes[0]!, added)).start();
      }
      case 'answer': {
        const post = [...held].find(({ message }) => message === operation.message);
        return post?.answer(operation.good ? 200 : 500);
      }
      case 'retries due':
        return await db`
          update pending_deliveries set next_attempt_at = now()
          where webhook_id = ${id} and claimed_by is null`;
      case 'three days pass':
        return await db`
          update webhooks set undelivered_since = now() - interval '3 days' where id = ${id}`;
      case 'replay':
        return replay(tools, key, { webhookId: id, since: new Date(0) });
      case 'rotate':
        return renewSecret(tools, key, id);
      case 'delete':
        return removeWebhook(tools, key, id);
      case 'wake':
        return Promise.all(processes.map((each) => each.wake(target)));
      default:
        return changeWebhook(tools, key, { id, active: operation.do === 'reactivate' });
    }
  }

  async function state() {
    const [webhook] = await db`
      select active, failure_count as failures, previous_secret is not null as rotated,
             (select count(*)::int from test.jobs where task = 'webhooks.notify_deactivated'
                and payload ->> 'webhook_id' = ${id}) as "switchedOff",
             array(select (d.body::json ->> 'message') || ' ' || d.status || ' ' || d.attempts || ' '
                          || (select count(*) + (d.duration_ms is not null)::int from delivery_attempts a
                              where a.webhook_id = d.webhook_id and a.delivery_id = d.id)
                   from deliveries d where d.webhook_id = w.id) as deliveries
      from webhooks w where id = ${id}`;
    const posts = [...held].map(({ message, signatures }) => `${message} ${signatures}`);
    const shown = webhook && { ...webhook, deliveries: [...webhook['deliveries']].sort() };
    return { webhook: shown ?? null, held: posts.sort() };
  }

  async function end() {
    const stopped = Promise.all(processes.map((each) => each.stop()));
    for (const post of held) post.answer(200);
    await stopped;
    await db`delete from organizations where id = ${org_id}`;
  }

  return { run, state, end };
}
