import { randomUUID, randomUUIDv7 } from 'node:crypto';
import * as v from 'valibot';
import type { AppMailer } from '../app-mailer.ts';
import { type AuditedAct, changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { notFound, Refusal } from '../errors.ts';
import { enqueue } from '../jobs.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import { type Db, inTransaction, one, type Sql } from '../lib/db/db.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import type { Log } from '../lib/log/log.ts';
import { isPlainLine } from '../lib/validation/parse.ts';
import { maxWebhooks } from '../limits.ts';
import { refuseAtLimit } from '../organizations/queries.ts';
import { attempted } from '../signals.ts';
import { writeAppLetter } from '../web/app-letter.tsx';
import {
  type AttemptOutcome,
  attempt,
  bodyOf,
  type DeliverTools,
  newSecret,
  toSignal,
} from './deliver.ts';
import type { WebhookRef } from './delivery.queries.ts';
import { eventTypes } from './events.ts';
import { findTarget, getWebhook, type WebhookRow, webhookColumns } from './queries.ts';
import { saveAttempts } from './record.ts';
import { describeRetries, offManually, retryKinds, testEvent } from './rules.ts';

const maxUrlLength = 2000;
const maxDescriptionLength = 500;

const types = eventTypes.map(({ type }) => type);

const EventTypes = v.pipe(
  v.array(v.picklist(types, `must be among ${types.join(', ')}`)),
  v.minLength(1, 'must name at least one event'),
  v.transform((events) => [...new Set(events)]),
);
const Url = v.pipe(
  v.string(),
  v.maxLength(maxUrlLength, `must have at most ${maxUrlLength} characters`),
  v.metadata({ format: 'uri' }),
);
const Description = v.nullable(
  v.pipe(
    v.string(),
    v.maxLength(maxDescriptionLength, `must have at most ${maxDescriptionLength} characters`),
    v.check(isPlainLine, 'must be one line without control characters'),
  ),
);
const Retries = v.pipe(
  v.picklist(retryKinds, `must be ${retryKinds.join(' or ')}`),
  v.description(retryKinds.map((kind) => `${kind}: ${describeRetries(kind)}`).join(' ')),
);

export const NewWebhook = v.object({
  org_id: v.optional(v.string()),
  url: Url,
  events: EventTypes,
  description: v.optional(Description),
  retries: v.optional(Retries),
});

export const WebhookChange = v.object({
  url: v.optional(Url),
  events: v.optional(EventTypes),
  description: v.optional(Description),
  retries: v.optional(Retries),
  active: v.optional(v.boolean()),
});
type Change = v.InferOutput<typeof WebhookChange>;

export type ManageTools = {
  db: Db;
  secrets: Secrets;
  /** Returns why a URL is not allowed, or null. */
  checkTarget: (url: string) => Promise<string | null>;
};

export async function createWebhook(
  tools: ManageTools,
  writer: Writer,
  added: v.InferOutput<typeof NewWebhook>,
) {
  const { orgId } = writer;
  const { url, events, description = null, retries = 'standard' } = added;
  if (added.org_id !== undefined && added.org_id !== orgId) {
    throw new Refusal('forbidden', 'org_id is not the organization of this API key');
  }
  await refuseTarget(tools, url);
  const id = randomUUID();
  const secret = newSecret();
  const sealed = tools.secrets.seal({ owner: orgId, id }, secret);
  return await inTransaction(tools.db, async (tx) => {
    await refuseAtLimit(tx, orgId, 'webhooks', maxWebhooks);
    const rows = await tx<WebhookRow[]>`
      insert into webhooks (org_id, id, url, events, description, retries, secret)
      values (${orgId}, ${id}, ${url}, ${events}, ${description}, ${retries}, ${sealed})
      returning ${webhookColumns(tx)}`;
    await recordChange(tx, writer, { act: 'webhook.created', id, details: { events } });
    return { ...one(rows), secret };
  });
}

export async function changeWebhook(
  tools: ManageTools,
  writer: Writer,
  { id, ifMatch, ...wanted }: Change & { id: string; ifMatch?: IfMatch },
) {
  const { orgId } = writer;
  if (wanted.url !== undefined) await refuseTarget(tools, wanted.url);
  return await inTransaction(tools.db, async (tx) => {
    await tx`select from webhooks where org_id = ${orgId} and id = ${id} for no key update`;
    const before = await getWebhook({ db: tx }, orgId, id);
    refuseOtherVersion(versionOfWebhook(before), ifMatch);
    const change = differing(before, wanted);
    if (Object.keys(change).length === 0) return before;
    const webhook = await updateWebhook(tx, orgId, id, change);
    const { active = null } = change;
    if (active === false) {
      // Skips pending retries now instead of hours later.
      const payload = { org_id: orgId, webhook_id: id };
      await enqueue(tx, [{ task: 'webhooks.deliver', payload }]);
    }
    const changes = changesOf(before, change);
    // The path of a URL may contain a secret.
    if (change.url)
      changes['url'] = { from: new URL(before.url).host, to: new URL(change.url).host };
    await recordChange(tx, writer, { act: 'webhook.changed', id, details: { changes } });
    return webhook;
  });
}

/** Deliveries do not change the version. */
export const versionOfWebhook = (webhook: WebhookRow) =>
  versionOf(webhook, v.keyof(WebhookChange).options);

/** Turning on an active webhook with failures is a change too: it resets the failures. */
function differing(before: WebhookRow, wanted: Change): Change {
  const text = (value: unknown) => JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
  const fields = Object.entries(wanted).filter(([name, value]) => {
    if (value === undefined) return false;
    if (name === 'active' && value === true && before.failure_count > 0) return true;
    return text(value) !== text(before[name as keyof Change]);
  });
  return Object.fromEntries(fields);
}

async function updateWebhook(sql: Sql, orgId: string, id: string, change: Change) {
  const { url = null, events = null, description, retries = null, active = null } = change;
  const rows = await sql<WebhookRow[]>`
    update webhooks
    set url = coalesce(${url}, url),
        events = coalesce(${events}::text[], events),
        description = case when ${description !== undefined} then ${description ?? null} else description end,
        retries = coalesce(${retries}, retries),
        active = coalesce(${active}, active),
        failure_count = case when ${active ?? false} then 0 else failure_count end,
        deactivated_at = case ${active}::boolean when true then null
                              when false then coalesce(deactivated_at, now())
                              else deactivated_at end,
        deactivated_reason = case ${active}::boolean when true then null
                                  when false then coalesce(deactivated_reason, ${offManually})
                                  else deactivated_reason end,
        undelivered_since = case when ${active ?? false} then now() else undelivered_since end,
        updated_at = now()
    where org_id = ${orgId} and id = ${id}
    returning ${webhookColumns(sql)}`;
  return one(rows);
}

export async function removeWebhook({ db }: { db: Db }, writer: Writer, id: string) {
  await inTransaction(db, async (tx) => {
    const [webhook] = await tx<{ url: string }[]>`
      delete from webhooks where org_id = ${writer.orgId} and id = ${id} returning url`;
    if (!webhook) throw notFound('webhook');
    const details = { name: new URL(webhook.url).host };
    await recordChange(tx, writer, { act: 'webhook.deleted', id, details });
  });
}

/** The previous secret also signs for a day, so that receivers can switch over. */
export async function renewSecret(tools: ManageTools, writer: Writer, id: string) {
  const { orgId } = writer;
  const secret = newSecret();
  const sealed = tools.secrets.seal({ owner: orgId, id }, secret);
  return await inTransaction(tools.db, async (tx) => {
    const [webhook] = await tx<WebhookRow[]>`
      update webhooks
      set previous_secret = secret, previous_secret_until = now() + interval '24 hours',
          secret = ${sealed}, updated_at = now()
      where org_id = ${orgId} and id = ${id}
      returning ${webhookColumns(tx)}`;
    if (!webhook) throw notFound('webhook');
    await recordChange(tx, writer, { act: 'webhook.secret_rotated', id });
    return { ...webhook, secret };
  });
}

type WebhookAct = Pick<AuditedAct, 'act' | 'details'> & { id: string };

const recordChange = (tx: Sql, writer: Writer, { id, ...act }: WebhookAct) =>
  recordAct(tx, { ...writer, ...act, target: { kind: 'webhook', id } });

async function refuseTarget({ checkTarget }: ManageTools, url: string) {
  const reason = await checkTarget(url);
  if (reason) throw new Refusal('invalid', reason, { code: 'forbidden_url' });
}

/** Does not change the failures of the webhook. */
export async function testWebhook(
  tools: DeliverTools & { db: Db },
  writer: Writer,
  { id: webhook_id, traceparent }: { id: string; traceparent: string | null },
) {
  const { orgId: org_id } = writer;
  const target = await findTarget(tools.db, org_id, webhook_id);
  if (!target) throw notFound('webhook');

  const id = randomUUIDv7();
  const created_at = new Date();
  const message = { version: '1', type: testEvent, webhookId: webhook_id, timestamp: created_at };
  const delivery = {
    id,
    message_id: id,
    org_id,
    webhook_id,
    event: testEvent,
    body: JSON.stringify(message),
    attempts: 0,
    traceparent,
    created_at,
  };
  const outcome = await attempt(tools, delivery, target);
  await inTransaction(tools.db, async (tx) => {
    await insertTestDelivery(tx, outcome);
    const details = { status: outcome.verdict.status };
    await recordChange(tx, writer, { act: 'webhook.tested', id: webhook_id, details });
  });
  attempted.publish(toSignal(outcome));
  return {
    delivered: outcome.verdict.status === 'delivered',
    status_code: outcome.answer.statusCode,
    response_body: bodyOf(outcome.answer),
    duration_ms: outcome.answer.durationMs,
    error: outcome.answer.error,
    delivery_id: id,
  };
}

async function insertTestDelivery(sql: Sql, outcome: AttemptOutcome) {
  const { id, org_id, webhook_id, body } = outcome.delivery;
  await sql`
    with webhook as materialized (
      select org_id, id
      from webhooks
      where org_id = ${org_id} and id = ${webhook_id}
      for key share
    ), event as (
      insert into events (org_id, id, type, body, traceparent)
      select org_id, ${id}::uuid, ${testEvent}, ${body}, ${outcome.traceparent}
      from webhook
    )
    insert into pending_deliveries (org_id, webhook_id, id, event_id, is_test)
    select org_id, id, ${id}::uuid, ${id}::uuid, true
    from webhook`;
  await saveAttempts(sql, outcome.delivery, [outcome]);
}

export type NotifyTools = { db: Db; log: Log; appMailer: AppMailer; publicUrl: string };

type Deactivation = {
  url: string;
  deactivated_at: Date;
  deactivated_reason: string;
  organization: string;
  slug: string;
  contact_email: string | null;
};

/** The contact address may belong to a developer who is not a member, so the email names the API calls as well. */
export async function notifyDeactivated(tools: NotifyTools, { org_id, webhook_id }: WebhookRef) {
  const { db, log, appMailer, publicUrl } = tools;
  const [webhook] = await db<Deactivation[]>`
    select w.url, w.deactivated_at, w.deactivated_reason, o.name as organization, o.slug, o.contact_email
    from webhooks w
    join organizations o on o.id = w.org_id
    where w.org_id = ${org_id} and w.id = ${webhook_id} and not w.active and w.deactivated_reason <> ${offManually}`;
  if (!webhook?.contact_email) return;
  const { url, deactivated_at, deactivated_reason, organization, slug, contact_email } = webhook;
  const outcome = await appMailer.send({
    to: { name: null, address: contact_email },
    ...writeAppLetter({
      subject: `A webhook of ${organization} was turned off`,
      sentences: [
        `The webhook ${url} was turned off on ${deactivated_at.toISOString()}.`,
        `Reason: ${deactivated_reason}.`,
        'Events since then are recorded as skipped deliveries. Once your endpoint works again, turn the webhook on and replay them: in the app, or with the API (PUT /api/webhooks/:id with {"active": true}, then POST /api/webhooks/:id/replay).',
      ],
      button: { text: 'View webhook', url: `${publicUrl}/o/${slug}/webhooks/${webhook_id}` },
      foot: `You received this email because yours is the contact address of ${organization}.`,
    }),
    id: `deactivated-${webhook_id}-${deactivated_at.getTime()}`,
    group: org_id,
  });
  if (outcome.kind !== 'accepted')
    log.warn(
      { webhook_id, outcome: outcome.kind },
      'could not send the notice of a webhook that was turned off',
    );
}
