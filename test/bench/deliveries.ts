import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { one, type Sql } from '../../src/lib/db/db.ts';
import { type BenchDatabase, benchDatabase } from './database.ts';
import { deliveryTimes, perSecond } from './delivery-times.ts';
import { emptyJobs } from './empty-jobs.ts';
import { comparePosts } from './outbound.ts';
import { number, type Section, table, verdict } from './report.ts';
import { startService } from './service.ts';
import { addSurveys, addWebhook } from './surveys.ts';

const webhooks = 40;
const deliveriesEach = 300;
const pollMs = 50;
const patienceMs = 60_000;

/** Deliveries to a receiver on this machine: how many, and how soon. */
export async function deliveries(server: string): Promise<Section[]> {
  const posts = await comparePosts();
  const database = await benchDatabase(server);
  try {
    const jobs = await emptyJobs(database);
    const backlog = await workOff(database);
    const spread = await deliveryTimes(database, { webhooks });
    const hot = await deliveryTimes(database, { webhooks: 1 });
    return [
      { title: rates, lines: rateLines({ ...posts, ...backlog, jobs }) },
      { title: times, lines: timeLines({ spread, hot }) },
    ];
  } finally {
    await database.drop();
  }
}

const rates = `Deliveries: ${number(webhooks * deliveriesEach)} of ${webhooks} webhooks, to a receiver on the same machine`;
const times = `Deliveries: how soon, at ${perSecond} events a second`;

/** Deliveries made beforehand, each with its attempt on record. */
async function workOff({ db, url }: BenchDatabase) {
  const receiver = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)));
  const [port] = (await once(receiver, 'message')) as [number];
  const service = await startService(url);
  try {
    const surveys = await addSurveys(db, { surveys: webhooks, webhooks: false });
    for (const { orgId } of surveys) await addWebhook(db, orgId, `http://127.0.0.1:${port}/`);
    const before = service.cpuMs();
    await addDeliveries(db);
    await allDelivered(db);
    const cpu = ((service.cpuMs() - before) * 1000) / (webhooks * deliveriesEach);
    return {
      rate: await deliveryRate(db),
      cpu,
      resident: service.residentMegabytes() ?? Number.NaN,
    };
  } finally {
    await service.stop();
    receiver.kill();
  }
}

/** Of events that one webhook takes each, so that each has its body. */
async function addDeliveries(sql: Sql) {
  await sql`
    with happened as (
      insert into events (org_id, type, body)
      select w.org_id, 'response.received', json_build_object('version', '1', 'filler', repeat('x', 200))::text
      from webhooks w, generate_series(1, ${deliveriesEach}::int) n
      returning org_id, id
    )
    insert into pending_deliveries (org_id, webhook_id, event_id)
    select w.org_id, w.id, e.id
    from happened e
    join webhooks w using (org_id)`;
}

async function allDelivered(sql: Sql) {
  const end = performance.now() + patienceMs;
  for (;;) {
    const { left } = one(
      await sql<{ left: boolean }[]>`
        select exists (select from deliveries where status <> 'delivered') as left`,
    );
    if (!left) return;
    if (performance.now() > end) throw new Error('deliveries are left over');
    await sleep(pollMs);
  }
}

/** From the first attempt to the last record. */
async function deliveryRate(sql: Sql): Promise<number> {
  const { rate } = one(
    await sql<{ rate: number }[]>`
      select (count(*) / extract(epoch from max(d.delivered_at) - min(d.delivered_at - make_interval(secs => d.duration_ms / 1000.0))))::float8 as rate
      from deliveries d`,
  );
  return rate;
}

type Floors = Awaited<ReturnType<typeof comparePosts>> & {
  jobs: Awaited<ReturnType<typeof emptyJobs>>;
};
type Rates = Floors & Awaited<ReturnType<typeof workOff>>;

function rateLines({ rate, cpu, resident, bare, guarded, jobs }: Rates): string[] {
  const floor = (what: string, { perSecond, cpuMicroseconds }: typeof bare) => [
    what,
    `${number(perSecond)}/s`,
    number(cpuMicroseconds),
    '',
    '',
  ];
  return table(
    ['', 'rate', 'CPU µs', 'expected', ''],
    [
      ['deliveries', `${number(rate)}/s`, number(cpu), '4,000/s', verdict(rate >= 4000)],
      floor('floor: undici posts the same', bare),
      floor('floor: Graphile runs empty jobs', jobs),
      floor('the guarded client without Postgres', guarded),
      memory('resident memory after them', resident),
    ],
  );
}

const memory = (what: string, megabytes: number) => [
  what,
  `${number(megabytes)} MB`,
  '',
  'under 300 MB',
  verdict(megabytes < 300),
];

type Times = Awaited<ReturnType<typeof deliveryTimes>>;

function timeLines({ spread, hot }: { spread: Times; hot: Times }): string[] {
  const soon = ({ p50, p99 }: Times['fromCommit']) => verdict(p50 < 10 && p99 < 60);
  const row = (what: string, { p50, p99 }: Times['fromCommit'], ...expected: [string, string]) => [
    ...[what, number(p50, 1), number(p99, 1), ...expected],
  ];
  const rows = (of: string, { fromCommit, fromDue, retryLate }: Times) => [
    row(`${of}: commit to first byte`, fromCommit, 'p50 < 10, p99 < 60', soon(fromCommit)),
    row(`${of}: the same with the insert`, fromDue, '', ''),
    row(`${of}: a retry, from when it is due`, retryLate, 'p99 < 50', verdict(retryLate.p99 < 50)),
  ];
  return [
    ...table(
      ['', 'p50 ms', 'p99 ms', 'expected', ''],
      [...rows(`${webhooks} webhooks`, spread), ...rows('one webhook', hot)],
    ),
    '',
    `Events are committed when their moment has come, whatever became of those before; each fifth is refused once. The first two seconds are not counted. Resident memory ${number(hot.resident)} MB.`,
  ];
}
