import { randomUUID, randomUUIDv7 } from 'node:crypto';
import type { AppMailer } from '../app-mailer.ts';
import { type Act, type AuditedAct, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import type { Log } from '../lib/log/log.ts';
import { attempted } from '../signals.ts';
import { writeAppLetter } from '../web/app-letter.tsx';
import { attempt, type DeliverTools, newSecret, toSignal } from './deliver.ts';
import { hasPending, type WebhookRef } from './delivery.queries.ts';
import type { EventType } from './events.ts';
import {
  type Deactivation,
  deleteWebhook,
  findDeactivation,
  findTarget,
  findWebhook,
  insertWebhook,
  lockAndCountWebhooks,
  lockWebhook,
  rotateSecret,
  updateWebhook,
  type WebhookRow,
} from './queries.ts';
import { type RetryKind, testEvent } from './rules.ts';

const webhooksAllowed = 50;

export type ManageTools = {
  db: Db;
  secrets: Secrets;
  /** Why a URL may not be a webhook's, in a sentence, or null. */
  judgeTarget: (url: string) => Promise<string | null>;
};

type Subscription = {
  org_id?: string | undefined;
  url: string;
  events: EventType[];
  description?: string | null | undefined;
  retries?: RetryKind | undefined;
};

/** Creates a subscription. The secret is in this answer and nowhere else. */
export async function createWebhook(tools: ManageTools, writer: Writer, added: Subscription) {
  const { orgId } = writer;
  if (added.org_id !== undefined && added.org_id !== orgId) {
    throw new Refusal('forbidden', 'org_id is not the organization of this API key');
  }
  await refuseTarget(tools, added.url);
  const id = randomUUID();
  const secret = newSecret();
  const webhook = {
    id,
    url: added.url,
    events: added.events,
    description: added.description ?? null,
    retries: added.retries ?? 'standard',
    secret: tools.secrets.seal({ owner: orgId, id }, secret),
  };
  return await inTransaction(tools.db, async (tx) => {
    if ((await lockAndCountWebhooks(tx, orgId)) >= webhooksAllowed) {
      throw new Refusal('invalid', `an organization has at most ${webhooksAllowed} webhooks`, {
        code: 'too_many_webhooks',
      });
    }
    const made = await insertWebhook(tx, orgId, webhook);
    const details = { host: hostOf(added.url), events: added.events };
    await recordChange(tx, writer, { act: 'webhook.created', id, details });
    return { ...made, secret };
  });
}

type Change = {
  url?: string | undefined;
  events?: EventType[] | undefined;
  description?: string | null | undefined;
  retries?: RetryKind | undefined;
  active?: boolean | undefined;
};

export async function changeWebhook(
  tools: ManageTools,
  writer: Writer,
  { id, ...given }: Change & { id: string },
) {
  if (given.url !== undefined) await refuseTarget(tools, given.url);
  return await inTransaction(tools.db, async (tx) => {
    const before = await lockWebhook(tx, writer.orgId, id);
    if (!before) throw notFound('webhook');
    const change = differing(before, given);
    const changed = Object.keys(change);
    if (changed.length === 0) return before;
    const webhook = await updateWebhook(tx, writer.orgId, id, {
      url: change.url ?? null,
      events: change.events ?? null,
      description: change.description ?? null,
      describes: change.description !== undefined,
      retries: change.retries ?? null,
      active: change.active ?? null,
    });
    if (!webhook) throw notFound('webhook');
    const { active = null } = change;
    if (active === false) await skipWhatWaits(tx, { org_id: writer.orgId, webhook_id: id });
    await recordChange(tx, writer, { act: 'webhook.changed', id, details: { changed, active } });
    return webhook;
  });
}

/** What differs of what is given. Switching on a webhook that fails ends its run of failures. */
function differing(before: WebhookRow, change: Change): Change {
  const text = (value: unknown) => JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
  const given = Object.entries(change).filter(([name, value]) => {
    if (value === undefined) return false;
    if (name === 'active' && value === true && before.failure_count > 0) return true;
    return text(value) !== text(before[name as keyof Change]);
  });
  return Object.fromEntries(given);
}

/** Retries that wait may be hours away: the queue skips them now. */
async function skipWhatWaits(tx: Sql, webhook: WebhookRef) {
  if (await hasPending(tx, webhook)) {
    await enqueue(tx, [{ task: 'webhooks.deliver', payload: webhook }]);
  }
}

export async function removeWebhook({ db }: { db: Db }, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    if (!(await deleteWebhook(tx, writer.orgId, id))) throw notFound('webhook');
    await recordChange(tx, writer, { act: 'webhook.deleted', id });
  });
}

export async function renewSecret(tools: ManageTools, writer: Writer, id: string) {
  const secret = newSecret();
  const sealed = tools.secrets.seal({ owner: writer.orgId, id }, secret);
  return await inTransaction(tools.db, async (tx) => {
    const webhook = await rotateSecret(tx, writer.orgId, id, sealed);
    if (!webhook) throw notFound('webhook');
    await recordChange(tx, writer, { act: 'webhook.secret_rotated', id });
    return { ...webhook, secret };
  });
}

type RecordedChange = { act: Act; id: string; details?: AuditedAct['details'] };

const recordChange = (tx: Sql, writer: Writer, { act, id, details }: RecordedChange) =>
  recordAct(tx, { ...writer, act, target: { kind: 'webhook', id }, details });

/** The rest of an address may be a secret of the receiver. */
const hostOf = (url: string) => new URL(url).host;

export async function getWebhook({ db }: { db: Sql }, orgId: string, id: string) {
  const webhook = await findWebhook(db, orgId, id);
  if (!webhook) throw notFound('webhook');
  return webhook;
}

async function refuseTarget({ judgeTarget }: ManageTools, url: string) {
  const complaint = await judgeTarget(url);
  if (complaint) throw new Refusal('invalid', complaint, { code: 'forbidden_url' });
}

/** Sends a test event and returns its outcome. It changes nothing about the webhook's failures. */
export async function testWebhook(
  tools: DeliverTools & { db: Db },
  writer: Writer,
  { id, traceparent }: { id: string; traceparent: string | null },
) {
  const { orgId } = writer;
  const target = await findTarget(tools.db, orgId, id);
  if (!target) throw notFound('webhook');

  const deliveryId = randomUUIDv7();
  const created_at = new Date();
  const body = JSON.stringify({
    version: '1',
    type: testEvent,
    webhookId: id,
    timestamp: created_at,
  });
  const outcome = await attempt(tools, {
    id: deliveryId,
    message_id: deliveryId,
    org_id: orgId,
    webhook_id: id,
    event: testEvent,
    body,
    attempts: 0,
    traceparent,
    created_at,
    ...target,
  });

  const { answer, at } = outcome;
  const delivered = outcome.verdict.status === 'delivered';
  const result = {
    status_code: answer.statusCode,
    response_body: answer.statusCode === null ? null : answer.body,
    duration_ms: answer.durationMs,
    error: answer.error,
  };
  const status = delivered ? ('delivered' as const) : ('failed' as const);
  await inTransaction(tools.db, async (tx) => {
    await insertTestDelivery(tx, orgId, {
      id: deliveryId,
      webhook_id: id,
      body,
      status,
      at,
      traceparent: outcome.traceparent,
      ...result,
    });
    await recordChange(tx, writer, { act: 'webhook.tested', id, details: { status } });
  });
  attempted.publish(toSignal(outcome));
  return { delivered, ...result, delivery_id: deliveryId };
}

type TestDelivery = {
  id: string;
  webhook_id: string;
  body: string;
  status: 'delivered' | 'failed';
  status_code: number | null;
  response_body: string | null;
  error: string | null;
  duration_ms: number;
  at: Date;
  traceparent: string | null;
};

export async function insertTestDelivery(sql: Sql, orgId: string, test: TestDelivery) {
  await sql`
    with webhook as materialized (
      select org_id, id
      from webhooks
      where org_id = ${orgId} and id = ${test.webhook_id}
      for key share
    ), event as (
      insert into events (org_id, id, type, body, traceparent)
      select org_id, ${test.id}::uuid, ${testEvent}, ${test.body}, ${test.traceparent}
      from webhook
    ), delivery as (
      insert into ended_deliveries (org_id, webhook_id, id, event_id, is_test, undelivered, attempts, status_code,
                                    response_body, duration_ms, delivered_at)
      select org_id, id, ${test.id}::uuid, ${test.id}::uuid, true, nullif(${test.status}, 'delivered'), 1,
             ${test.status_code}::smallint, ${test.response_body},
             case when ${test.status} = 'delivered' then ${test.duration_ms}::integer end,
             case when ${test.status} = 'delivered' then now() end
      from webhook
      returning org_id, webhook_id, id
    )
    insert into delivery_attempts
      (org_id, webhook_id, delivery_id, number, status_code, response_body, error, duration_ms, at)
    select org_id, webhook_id, id, 1, ${test.status_code}::smallint, ${test.response_body}, ${test.error},
           ${test.duration_ms}, ${test.at}
    from delivery
    where ${test.status} <> 'delivered'`;
}

export type NotifyTools = { db: Db; log: Log; appMailer: AppMailer; publicUrl: string };

/** Notifies the organization, by mail to its contact address, that a webhook was switched off, and why. */
export async function notifyDeactivated(tools: NotifyTools, { org_id, webhook_id }: WebhookRef) {
  const { db, log, appMailer, publicUrl } = tools;
  const found = await findDeactivation(db, org_id, webhook_id);
  if (!found?.contact_email) return;
  const outcome = await appMailer.send({
    to: { name: null, address: found.contact_email },
    ...writeAppLetter(letterOf(found, `${publicUrl}/o/${found.slug}/webhooks/${webhook_id}`)),
    id: `deactivated-${webhook_id}-${found.deactivated_at.getTime()}`,
    group: org_id,
  });
  if (outcome.kind !== 'accepted')
    log.warn({ webhook_id, outcome: outcome.kind }, 'a notice was not mailed');
}

/** Its reader may be a member or not: the button leads to the app, and the calls of the API are named as well. */
const letterOf = (
  { organization, url, deactivated_at, deactivated_reason }: Deactivation,
  screen: string,
) => ({
  subject: `A webhook of ${organization} was switched off`,
  sentences: [
    `The webhook ${url} was switched off on ${deactivated_at.toISOString()}.`,
    `Why: ${deactivated_reason}.`,
    'Events since then are kept as skipped deliveries. When the address answers again, switch the webhook on and replay them: in the app, or by the API (PUT /api/webhooks/:id with {"active": true}, then POST /api/webhooks/:id/replay).',
  ],
  button: { text: 'Open the webhook', url: screen },
  foot: `You get this mail because yours is the contact address of ${organization}.`,
});
