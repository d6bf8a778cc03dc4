import { commitsSoon, type Db, one, type Sql } from '../db/db.ts';
import type { Log } from '../log/log.ts';
import { aheadMs } from './due-times.ts';

const largestBatch = 1000;
/** While the database is away: work goes on as soon as it is back. */
const retryMs = 200;

/**
 * A crash while a job runs costs an attempt: with a single one the job would be lost. Ten, with the
 * queue's own backoff between those that threw, last for some hours.
 */
const maxAttempts = 10;

export type Pump = { nudge: () => void; stop: () => Promise<void> };
type Tools = {
  db: Db;
  log: Log;
  onHandedOver: (handed: HandedOver) => void;
  /** Where nothing else looks for the rows of processes that died or have no pump. */
  everyMs?: number;
};

/** Hands committed outbox rows to the queue when it is nudged. Nudges during a round are one more round. */
export function startPump({ db, log, onHandedOver, everyMs }: Tools): Pump {
  let round: Promise<void> | undefined;
  let nudged = false;
  let away = false;
  let stopped = false;

  function nudge() {
    nudged = true;
    if (stopped) return;
    round ??= pumpOut().finally(() => {
      round = undefined;
      if (nudged && !away) nudge(); // came just as the round ended
    });
  }

  async function pumpOut() {
    try {
      while (nudged && !stopped) {
        nudged = false;
        const batch = await handOver(db);
        if (batch.handed > 0) onHandedOver(batch);
        if (batch.handed === largestBatch) nudged = true;
      }
      if (away) log.info('jobs are handed to the queue again');
      away = false;
    } catch (error) {
      if (!away) log.warn({ err: error }, 'jobs cannot be handed to the queue, trying on');
      away = true;
      setTimeout(nudge, retryMs);
    }
  }

  const timer = everyMs && setInterval(nudge, everyMs);
  if (timer) nudge();
  return {
    nudge,
    async stop() {
      stopped = true;
      if (timer) clearInterval(timer);
      await round;
    },
  };
}

/**
 * One batch, in one statement and so in one transaction: a row leaves the outbox if, and only if, its
 * job is in the queue. Rows that another pump holds are skipped. Without rows the queue is not called,
 * because it would notify every process for nothing. It does not wait for the disk: after a power cut the rows are
 * in the outbox again, and a job's first commit that does wait has taken its handover to the disk before it.
 */
export async function handOver(sql: Sql): Promise<HandedOver> {
  return one(
    await sql<HandedOver[]>`
      with taken as (
        delete from outbox
        where id in (
          select id
          from outbox
          order by id
          limit ${largestBatch}
          for update skip locked
        )
        returning id, task, payload, run_at
      ), batch as (
        select array_agg(
          (task, payload, null, run_at, ${maxAttempts}::smallint, null, 0::smallint, null)
            ::graphile_worker.job_spec
          order by id) as specs
        from taken
        having count(*) > 0
      )
      select count(*)::int as handed,
             (count(*) filter (
               where run_at > now()
                 and run_at < now() + make_interval(secs => ${aheadMs / 1000})))::int as soon,
             (select coalesce(array_agg(distinct task), '{}') from taken) as tasks,
             pg_backend_pid() as backend
      from batch, graphile_worker.add_jobs(batch.specs)
      where ${commitsSoon(sql)}`,
  );
}

export type HandedOver = {
  /** How many jobs the queue got. */
  handed: number;
  /** How many of them are due soon but not yet. */
  soon: number;
  tasks: string[];
  /** The connection, by which the notification of this batch can be known. */
  backend: number;
};
