import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { enqueue } from '../../src/jobs.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { startJobs } from '../../src/lib/queue/runner.ts';
import { task } from '../../src/lib/queue/task.ts';
import type { BenchDatabase } from './database.ts';
import { percentiles } from './load.ts';

const perSecond = 500;
const seconds = 3;
const tickMs = 10;

/** How long after the commit a job begins, at a steady rate. */
export async function jobStarts({ db, url }: BenchDatabase) {
  const committed = new Map<string, number>();
  const begun = new Map<string, number>();
  const started = task(v.object({ webhook_id: v.string() }), async ({ webhook_id }) => {
    begun.set(webhook_id, performance.now());
  });
  const log = createLog({ level: 'error' });
  // What earlier measurements left is not what is measured here.
  await db`delete from graphile_worker._private_jobs`;
  const jobs = await startJobs({
    concurrency: 100,
    program: 'askback',
    url,
    log,
    tasks: { 'webhooks.deliver': started },
  });

  const one = async (n: number) => {
    const payload = { org_id: 'bench', webhook_id: String(n) };
    await db.begin((tx) => enqueue(tx, [{ task: 'webhooks.deliver', payload }]));
    committed.set(payload.webhook_id, performance.now());
  };
  const under: Promise<void>[] = [];
  const first = performance.now();
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const due = first + (n * 1000) / perSecond;
    if (due - performance.now() > tickMs / 2) await sleep(tickMs);
    under.push(one(n));
  }
  await Promise.all(under);
  while (begun.size < under.length) await sleep(tickMs);
  await jobs.stop();
  return percentiles([...begun].map(([id, at]) => Math.max(0, at - committed.get(id)!)));
}
