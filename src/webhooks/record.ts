import { setTimeout as sleep } from 'node:timers/promises';
import { jobActor } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { enqueue, type NewJob } from '../jobs.ts';
import { createBatch } from '../lib/async/batch.ts';
import { type Db, isLockTimeout, type Sql } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import type { Log } from '../lib/log/log.ts';
import { createOutage, type Outage } from '../lib/log/outage.ts';
import { attempted, deactivated } from '../signals.ts';
import { type AttemptOutcome, toSignal } from './deliver.ts';
import type { WebhookRef } from './delivery.queries.ts';
import {
  type AttemptRow,
  lockStanding,
  saveAttempts,
  saveDelivered,
  saveStanding,
} from './outcome.queries.ts';
import { standAfter } from './rules.ts';

/** Outcomes of all webhooks are written in batches: so many, or as many as come within this time. */
const batch = { most: 500, lingerMs: 20 };
const tryAgainMs = 500;
const lines = { begins: 'attempts not recorded yet', over: 'attempts are recorded again' };
/** Then each webhook's outcomes are written apart. */
const deliveryLockMs = 2;

type RecordTools = { db: Db; log: Log };

/**
 * Records outcomes. Those that delivered, of any webhooks, go as one statement a batch, which touches no webhook more
 * than once a second: that is most of what a delivery costs. A failure goes under its webhook's lock, in batches of
 * its own, so that it holds up no other webhook. So does what that statement leaves out, because its webhook is
 * locked or has failures to reset or because it was recorded before.
 * While Postgres is away outcomes stay in memory: they are written when it is back.
 */
export function createRecorder(tools: RecordTools) {
  const delivered = createBatch<AttemptOutcome, boolean>(
    { write: (outcomes) => saveTogether(tools, outcomes) },
    batch,
  );
  const alone = new Map<string, ReturnType<typeof recordAlone>>();
  const outage = createOutage(tools.log, lines);
  let hurried = false;

  async function record(outcome: AttemptOutcome) {
    if (outcome.verdict.status === 'delivered') {
      const together = untilDone(outage, () => delivered.add(outcome));
      if (hurried) delivered.flush();
      if (await together) return;
    }
    await recordWithLock(outcome);
  }

  async function recordWithLock(outcome: AttemptOutcome) {
    const { webhook_id } = outcome.delivery;
    const own = alone.get(webhook_id) ?? recordAlone(tools, outcome.delivery);
    alone.set(webhook_id, own);
    own.waiting += 1;
    await untilDone(outage, () => own.add(outcome));
    own.waiting -= 1;
    if (own.waiting === 0) alone.delete(webhook_id);
  }

  /** From now on no batch waits for more outcomes. */
  function hurry() {
    hurried = true;
    delivered.flush();
  }

  return { record, hurry };
}

/** Deliveries that are left out of the statement come back as false. */
async function saveTogether({ db }: RecordTools, outcomes: readonly AttemptOutcome[]) {
  const rows = outcomes.map(toDeliveredRow);
  const saved = await saveDelivered(db, rows, deliveryLockMs).catch((error) =>
    isLockTimeout(error) ? [] : Promise.reject(error),
  );
  const ids = new Set(saved.map(({ id }) => id));
  for (const outcome of outcomes) {
    if (ids.has(outcome.delivery.id)) attempted.publish(toSignal(outcome));
  }
  return outcomes.map(({ delivery }) => ids.has(delivery.id));
}

function toDeliveredRow(outcome: AttemptOutcome) {
  const { org_id, webhook_id } = outcome.delivery;
  return { ...toRow(outcome), org_id, webhook_id };
}

function recordAlone({ db }: RecordTools, webhook: WebhookRef) {
  const { add } = createBatch<AttemptOutcome, AttemptOutcome>(
    {
      write: async (outcomes) => {
        await record(ofGroup(db, webhook.org_id), webhook, outcomes);
        return outcomes;
      },
    },
    { most: batch.most },
  );
  return { add, waiting: 0 };
}

async function untilDone<T>(outage: Outage, write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      const done = await write();
      outage.worked(write);
      return done;
    } catch (err) {
      outage.failed(write, { err });
      await sleep(tryAgainMs);
    }
  }
}

/**
 * Records attempts of one webhook's deliveries and all that follows: the retries, the webhook's failures,
 *and the end of a webhook that fails for too long.
 */
export async function record(
  db: Db,
  webhook: WebhookRef,
  outcomes: readonly AttemptOutcome[],
): Promise<void> {
  const { counted, switchedOff } = await inTransaction(db, (tx) => write(tx, webhook, outcomes));
  for (const outcome of counted) attempted.publish(toSignal(outcome));
  if (switchedOff) deactivated.publish({ orgId: webhook.org_id, webhookId: webhook.webhook_id });
}

async function write(tx: Sql, webhook: WebhookRef, outcomes: readonly AttemptOutcome[]) {
  const before = await lockStanding(tx, webhook);
  if (!before) return { counted: [], switchedOff: false };

  const saved = await saveAttempts(tx, webhook, outcomes.map(toRow));
  const dueAgain = new Map(saved.map((row) => [row.id, row.next_attempt_at]));
  const counted = outcomes.filter(({ delivery }) => dueAgain.has(delivery.id));
  if (counted.length === 0) return { counted, switchedOff: false };
  const standing = standAfter(counted.map(toResult), {
    retries: before.retries,
    failures: before.failure_count,
    undeliveredSeconds: before.undelivered_seconds,
  });
  await saveStanding(tx, webhook, {
    ...standing,
    deactivatedReason: before.active ? standing.deactivatedReason : null,
  });

  // Named one by one: a caller may hand in a row with more fields, which must not go into the queue.
  const payload = { org_id: webhook.org_id, webhook_id: webhook.webhook_id };
  const retries = retriesOf(payload, counted, dueAgain);
  await enqueue(tx, retries);
  const switchedOff = before.active && standing.deactivatedReason !== null;
  const traceparent = counted.at(-1)?.traceparent ?? null;
  if (switchedOff || (!before.active && retries.length > 0)) {
    // Skips what waits for its next attempt, which may be hours away.
    await enqueue(tx, [{ task: 'webhooks.deliver', payload, traceparent }]);
  }
  if (switchedOff) {
    await enqueue(tx, [{ task: 'webhooks.notify_deactivated', payload, traceparent }]);
    await recordAct(tx, {
      orgId: webhook.org_id,
      actor: jobActor('webhooks.deliver'),
      act: 'webhook.switched_off',
      target: { kind: 'webhook', id: webhook.webhook_id },
      details: { failures: standing.failures },
    });
  }
  return { counted, switchedOff };
}

/** Attempts at a delivery are siblings: a retry, too, belongs to the cause of the delivery. */
const retriesOf = (
  payload: WebhookRef,
  counted: readonly AttemptOutcome[],
  dueAgain: ReadonlyMap<string, Date | null>,
): NewJob[] =>
  counted.flatMap(({ delivery, traceparent }) => {
    const runAt = dueAgain.get(delivery.id);
    const cause = delivery.traceparent ?? traceparent;
    return runAt ? [{ task: 'webhooks.deliver', payload, runAt, traceparent: cause }] : [];
  });

const toResult = ({ delivery, answer, verdict }: AttemptOutcome) => ({
  event: delivery.event,
  status: verdict.status,
  statusCode: answer.statusCode,
  error: answer.error,
});

function toRow({ delivery, answer, verdict, at, traceparent }: AttemptOutcome): AttemptRow {
  return {
    id: delivery.id,
    number: delivery.attempts + 1,
    status: verdict.status,
    status_code: answer.statusCode,
    response_body: answer.statusCode === null ? null : answer.body,
    error: answer.error,
    duration_ms: answer.durationMs,
    at,
    traceparent: delivery.traceparent === null ? traceparent : null,
    retry_in_seconds: verdict.retryInSeconds,
  };
}
