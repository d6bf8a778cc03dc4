import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, run } from 'graphile-worker';
import { one } from '../../src/lib/db/db.ts';
import type { BenchDatabase } from './database.ts';

const jobs = 40_000;
const concurrency = 100;
const localQueue = 500;
const lookEveryMs = 10;

/** A floor: how fast the queue by itself runs jobs that do nothing, fetched and recorded in groups. */
export async function emptyJobs({ db, url }: BenchDatabase) {
  await db`
    select count(*) from graphile_worker.add_jobs(array(
      select ('nothing', '{}', null, null, null, null, null, null)::graphile_worker.job_spec
      from generate_series(1, ${jobs}::int)))`;
  const left = async () =>
    one(await db<{ left: boolean }[]>`select exists (select from graphile_worker.jobs) as left`)
      .left;
  let begunAt = 0;
  const nothing = async () => {
    begunAt ||= performance.now();
  };
  const before = process.cpuUsage();
  const runner = await run({
    connectionString: url,
    taskList: { nothing },
    concurrency,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    preset: {
      worker: { localQueue: { size: localQueue }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
    },
  });
  while (await left()) await sleep(lookEveryMs);
  const seconds = (performance.now() - begunAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  await runner.stop();
  return { perSecond: jobs / seconds, cpuMicroseconds: (user + system) / jobs };
}
