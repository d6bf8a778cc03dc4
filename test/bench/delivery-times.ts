import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { one, type Sql } from '../../src/lib/db/db.ts';
import { type Arrivals, refusedOnceOf } from './arrivals.ts';
import type { BenchDatabase } from './database.ts';
import type { Emission, EmittedEvent } from './emitter.ts';
import { percentiles } from './load.ts';
import { usageOf } from './service.ts';
import { addSurveys, addWebhook } from './surveys.ts';

export const perSecond = 500;
/** Longer than a retry waits: the first of them fall due while events still come. */
const seconds = 10;
/** Until the code is compiled and the connections are open. */
const warmUpSeconds = 2;
const lookEveryMs = 1000;
const patienceMs = 60_000;

/** How soon events reach their subscribers, and how late retries are, at a steady rate. */
export async function deliveryTimes(
  { db, url }: BenchDatabase,
  { webhooks }: { webhooks: number },
) {
  const [receiver, emitter] = [start('./arrivals.ts'), start('./emitter.ts')];
  try {
    const [port] = (await once(receiver, 'message')) as [number];
    const surveys = await addSurveys(db, { surveys: webhooks, webhooks: false });
    const orgIds = surveys.map(({ orgId }) => orgId);
    for (const orgId of orgIds) await addWebhook(db, orgId, `http://127.0.0.1:${port}/`);
    const emission: Emission = { url, orgIds, perSecond, seconds };
    const emitting = ask<EmittedEvent[]>(emitter, emission);
    const due = await dueTimes(db, orgIds);
    const emissions = await emitting;
    const arrivals = await ask<Arrivals>(receiver, 'report');
    const resident = usageOf(emitter.pid!).residentMegabytes() ?? Number.NaN;
    const gone = once(emitter, 'exit');
    emitter.send('stop');
    await gone;
    return { ...figures({ emissions, arrivals, due }), resident };
  } finally {
    emitter.kill();
    receiver.kill();
  }
}

const start = (file: string) => fork(fileURLToPath(new URL(file, import.meta.url)));

async function ask<T>(child: ChildProcess, question: object | string): Promise<T> {
  child.send(question);
  const [answer] = (await once(child, 'message')) as [T];
  return answer;
}

type Due = Map<number, number>;

/** When the retries fall due, as they are written; resolves when everything is delivered. */
async function dueTimes(db: Sql, orgIds: readonly string[]): Promise<Due> {
  const due: Due = new Map();
  const giveUpAt = performance.now() + patienceMs;
  for (;;) {
    const retries = await db<{ number: number; at: number }[]>`
      select (body::json ->> 'number')::int as number,
             (extract(epoch from next_attempt_at) * 1000)::float8 as at
      from deliveries
      where org_id = any (${orgIds}::uuid[]) and status = 'pending' and attempts = 1`;
    for (const { number, at } of retries) due.set(number, at);
    const { delivered } = one(
      await db<{ delivered: number }[]>`
        select count(*)::int as delivered from deliveries
        where org_id = any (${orgIds}::uuid[]) and status = 'delivered'`,
    );
    if (delivered === perSecond * seconds) return due;
    if (performance.now() > giveUpAt) throw new Error('events are left over');
    await sleep(lookEveryMs);
  }
}

function figures({
  emissions,
  arrivals,
  due,
}: {
  emissions: EmittedEvent[];
  arrivals: Arrivals;
  due: Due;
}) {
  const first = (number: number) => arrivals[number]![0]!;
  const late = [...due].map(([number, at]) => arrivals[number]![1]! - at);
  if (late.length !== emissions.length / refusedOnceOf) throw new Error('a retry was not seen');
  const fromCommit = emissions.map((one, number) => Math.max(0, first(number) - one.committedAt));
  const fromDue = emissions.map((one, number) => first(number) - one.dueAt);
  return {
    fromCommit: percentiles(fromCommit.slice(warmUpSeconds * perSecond)),
    fromDue: percentiles(fromDue.slice(warmUpSeconds * perSecond)),
    retryLate: percentiles(late),
  };
}
