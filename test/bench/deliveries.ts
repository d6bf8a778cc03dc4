import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { one, type Sql } from '../../src/platform/db.ts';
import { benchDatabase } from './database.ts';
import { comparePosts } from './outbound.ts';
import { number, type Section, table, verdict } from './report.ts';
import { startService } from './service.ts';
import { addSurveys, addWebhook } from './surveys.ts';

const webhooks = 40;
const deliveriesEach = 300;
const pollMs = 50;
const patienceMs = 60_000;

/** Deliveries made beforehand to a receiver on this machine, each with its attempt on record. */
export async function deliveries(server: string): Promise<Section[]> {
  const posts = await comparePosts();
  const database = await benchDatabase(server);
  const receiver = fork(fileURLToPath(new URL('./receiver.ts', import.meta.url)));
  const [port] = (await once(receiver, 'message')) as [number];
  const service = await startService(database.url, {
    ASKBACK_WEBHOOK_HTTP: 'allow',
    ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  });
  try {
    const surveys = await addSurveys(database.db, { surveys: webhooks, webhooks: false });
    for (const { orgId } of surveys) {
      await addWebhook(database.db, orgId, `http://127.0.0.1:${port}/`);
    }
    const before = service.cpuMs();
    await addDeliveries(database.db);
    await allDelivered(database.db);
    const cpu = ((service.cpuMs() - before) * 1000) / (webhooks * deliveriesEach);
    const rate = await deliveryRate(database.db);
    const resident = service.residentMegabytes() ?? Number.NaN;
    return [{ title, lines: lines({ rate, cpu, resident, ...posts }) }];
  } finally {
    await service.stop();
    receiver.kill();
    await database.drop();
  }
}

const title = `Deliveries: ${number(webhooks * deliveriesEach)} of ${webhooks} webhooks, to a receiver on the same machine`;

async function addDeliveries(sql: Sql) {
  await sql`
    insert into deliveries (org_id, webhook_id, message_id, event, body, next_attempt_at)
    select w.org_id, w.id, gen_random_uuid(), 'response.received',
           json_build_object('version', '1', 'filler', repeat('x', 200))::text, now()
    from webhooks w, generate_series(1, ${deliveriesEach}::int) n`;
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
      select (count(*) / extract(epoch from max(d.delivered_at) - min(a.at)))::float8 as rate
      from deliveries d
      join delivery_attempts a on a.org_id = d.org_id and a.delivery_id = d.id`,
  );
  return rate;
}

type Posts = Awaited<ReturnType<typeof comparePosts>>;
type Figures = Posts & { rate: number; cpu: number; resident: number };

function lines({ rate, cpu, resident, bare, guarded }: Figures): string[] {
  return table(
    ['', 'rate', 'CPU µs', 'expected', ''],
    [
      ['deliveries', `${number(rate)}/s`, number(cpu), '4,000/s', verdict(rate >= 4000)],
      [
        'floor: undici posts the same',
        `${number(bare.perSecond)}/s`,
        number(bare.cpuMicroseconds),
        '',
        '',
      ],
      [
        'the guarded client without Postgres',
        `${number(guarded.perSecond)}/s`,
        number(guarded.cpuMicroseconds),
        '',
        '',
      ],
      [
        'resident memory after them',
        `${number(resident)} MB`,
        '',
        'under 300 MB',
        verdict(resident < 300),
      ],
    ],
  );
}
