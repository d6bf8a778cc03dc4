import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { one, type Sql } from '../../src/lib/db/db.ts';
import { benchDatabase } from './database.ts';
import { processorTimeOfPostgres } from './processor-time.ts';
import { startService } from './service.ts';
import { addSurveys, addWebhook } from './surveys.ts';
import { readWrites, writesBetween } from './writes.ts';

export const webhooks = 40;
const deliveriesEach = 300;
export const backlogOf = webhooks * deliveriesEach;
/** Must exceed the time to fill and analyze the tables and to read the counters. */
const dueInSeconds = 6;
const pollMs = 50;
const patienceMs = 60_000;

/** Delivers and records a prepared backlog from tables that were just filled, with or without statistics. */
export async function workOffBacklog(server: string, { analyzed }: { analyzed: boolean }) {
  const { db, url, drop } = await benchDatabase(server);
  const receiver = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)));
  const [port] = (await once(receiver, 'message')) as [number];
  const service = await startService(url);
  try {
    const surveys = await addSurveys(db, { surveys: webhooks, webhooks: false });
    for (const { orgId } of surveys) await addWebhook(db, orgId, `http://127.0.0.1:${port}/`);
    await addDeliveries(db);
    if (analyzed) await db`analyze events, pending_deliveries, ended_deliveries`;
    const writesBefore = await readWrites(db);
    const postgres = await processorTimeOfPostgres(db);
    const [cpuBefore, postgresBefore] = [service.cpuMs(), postgres()];
    await allDelivered(db);
    const [cpuAfter, postgresAfter] = [service.cpuMs(), postgres()];
    return {
      ...writesBetween(writesBefore, await readWrites(db), backlogOf),
      rate: await deliveryRate(db),
      cpu: ((cpuAfter - cpuBefore) * 1000) / backlogOf,
      postgresCpu: (postgresAfter - postgresBefore) / backlogOf,
      resident: service.residentMegabytes() ?? Number.NaN,
    };
  } finally {
    await service.stop();
    receiver.kill();
    await drop();
  }
}

/** Each webhook gets its own events, so that each delivery has its own body. */
async function addDeliveries(sql: Sql) {
  await sql`
    with happened as (
      insert into events (org_id, type, body)
      select w.org_id, 'response.received', json_build_object('version', '1', 'filler', repeat('x', 200))::text
      from webhooks w, generate_series(1, ${deliveriesEach}::int) n
      returning org_id, id
    )
    insert into pending_deliveries (org_id, webhook_id, event_id, next_attempt_at)
    select w.org_id, w.id, e.id, now() + make_interval(secs => ${dueInSeconds})
    from happened e
    join webhooks w using (org_id)`;
}

async function allDelivered(sql: Sql) {
  const end = performance.now() + patienceMs;
  for (;;) {
    const { left } = one(
      await sql<{ left: boolean }[]>`select exists (select from pending_deliveries) as left`,
    );
    if (!left) return;
    if (performance.now() > end) throw new Error('deliveries are left over');
    await sleep(pollMs);
  }
}

/** Deliveries per second, from the first attempt to the last record. */
async function deliveryRate(sql: Sql): Promise<number> {
  const { rate } = one(
    await sql<{ rate: number }[]>`
      select (count(*) / extract(epoch from max(d.delivered_at) - min(d.delivered_at - make_interval(secs => d.duration_ms / 1000.0))))::float8 as rate
      from ended_deliveries d`,
  );
  return rate;
}
