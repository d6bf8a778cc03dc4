import { setTimeout as sleep } from 'node:timers/promises';
import { createBatch } from '../lib/async/batch.ts';
import { type Db, isLockTimeout } from '../lib/db/db.ts';
import { ofGroup } from '../lib/db/fair-pool.ts';
import type { Log } from '../lib/log/log.ts';
import { createOutage, type Outage } from '../lib/log/outage.ts';
import { attempted } from '../signals.ts';
import { type AttemptOutcome, toSignal } from './deliver.ts';
import type { WebhookRef } from './delivery.queries.ts';
import { saveDelivered } from './outcome.queries.ts';
import { record, toRow } from './record.ts';

/** Outcomes of all webhooks are written in batches: so many, or as many as come within this time. */
const batch = { most: 500, lingerMs: 20 };
const tryAgainMs = 500;
const lines = { begins: 'attempts not recorded yet', over: 'attempts are recorded again' };
/** Then the batch is written without what others hold. */
const deliveryLockMs = 2;

export type RecordTools = { db: Db; log: Log; pump: () => void };

/**
 * Records outcomes. Those that delivered, of any webhooks, go as one statement a batch. A failure, and what
 * that statement leaves out, because its webhook is locked or has failures to reset or because it was
 * recorded before, goes with its webhook's lock, in batches of its own, so that it holds up no other webhook.
 * While Postgres is away outcomes stay in memory: they are written when it is back.
 */
export function createRecorder(tools: RecordTools) {
  const delivered = createBatch(
    (outcomes: AttemptOutcome[]) => saveTogether(tools, outcomes),
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
  const saved = await saveDelivered(db, rows, { lockMs: deliveryLockMs }).catch((error) =>
    isLockTimeout(error) ? saveDelivered(db, rows) : Promise.reject(error),
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

function recordAlone({ db, pump }: RecordTools, webhook: WebhookRef) {
  const { add } = createBatch(
    async (outcomes: AttemptOutcome[]) => {
      if (await record(ofGroup(db, webhook.org_id), webhook, outcomes)) pump();
      return outcomes;
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
