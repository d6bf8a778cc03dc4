import { connect, type Db, type Sql } from '../../src/lib/db/db.ts';
import { addPartitions, timeOf } from '../../src/lib/db/partition-changes.ts';
import { isOver, type PartitionedTable, stretchAt } from '../../src/lib/db/partition-stretches.ts';
import { visitPersonalLink } from '../../src/responses/link.queries.ts';
import { visitsByTime } from '../../src/responses/partitions.ts';
import { listHistory } from '../../src/sends/history.queries.ts';
import { listDeliveries } from '../../src/webhooks/history.queries.ts';
import { saveDelivered } from '../../src/webhooks/outcome.queries.ts';
import { endedDeliveriesByTime } from '../../src/webhooks/partitions.ts';
import { pageOfDeliveries } from '../../src/webhooks/screen.queries.ts';
import { makeOrganization, makeSurvey, makeWebhook } from '../support/make/rows.ts';
import { benchDatabase } from './database.ts';
import { costOf, type ProcessorTime, processorTimeOfPostgres } from './processor-time.ts';
import { type Section, table } from './report.ts';
import { readWrites, writesBetween } from './writes.ts';

const rows = 200_000;
const rounds = 1000;
const batches = 200;
const inBatch = 50;
const contacts = 20_000;
const webhooks = 40;
/** So much of the rows is too old already. */
const oldPart = 0.25;
const dayMs = 86_400_000;

type Scene = { db: Db; postgres: ProcessorTime; orgId: string; webhookIds: string[] };
type Costs = Record<string, string>;

/** What openings and deliveries cost in one table, as they were before, and in partitions, by the statements of the service. */
export async function partitions(server: string): Promise<Section[]> {
  const before = await measure(server, undivide);
  const divided = await measure(server, divide);
  const lines = Object.keys(before).map((what) => [what, before[what]!, divided[what]!]);
  return [
    {
      title: 'Openings and deliveries: processor time of Postgres',
      lines: table(['', 'one table', 'partitions'], lines),
    },
  ];
}

async function measure(server: string, layOut: (db: Db) => Promise<void>): Promise<Costs> {
  const { url, drop } = await benchDatabase(server);
  const db = connect(url, { connections: 1 });
  try {
    await layOut(db);
    const orgId = await makeOrganization(db);
    const surveyId = await makeSurvey(db, orgId);
    await db`
      insert into contacts (org_id, survey_id, email, token)
      select ${orgId}, ${surveyId}, n || '@people.test', 'token-' || n from generate_series(1, ${contacts}) n`;
    const webhookIds: string[] = [];
    for (let n = 0; n < webhooks; n += 1) webhookIds.push(await makeWebhook(db, orgId));
    const scene = { db, postgres: await processorTimeOfPostgres(db), orgId, webhookIds };
    return { ...(await costOfVisits(scene)), ...(await costOfDeliveries(scene)) };
  } finally {
    await db.end({ timeout: 1 });
    await drop();
  }
}

const divide = async (db: Db) => {
  for (const divided of [visitsByTime, endedDeliveriesByTime]) {
    await db.begin(async (tx) => addPartitions(tx, divided, await all(tx, divided)));
  }
};

/** The stretches of old rows too. */
async function all(sql: Sql, divided: PartitionedTable) {
  const now = await timeOf(sql);
  const stretches = [];
  const age = divided.keptDays * (1 + oldPart) * dayMs;
  for (
    let time = new Date(now.getTime() - age);
    time.getTime() < now.getTime() + 2 * divided.stretchDays * dayMs;
    time = stretches.at(-1)!.to
  ) {
    stretches.push(stretchAt(divided, time));
  }
  return stretches;
}

/** The tables that were before: each with a key and an index by age. */
async function undivide(db: Db) {
  const [view] = await db<{ query: string }[]>`select pg_get_viewdef('deliveries') as query`;
  await db.unsafe(`
    alter table link_visits rename to divided_visits;
    alter table ended_deliveries rename to divided_deliveries;
    create table link_visits (
      like divided_visits including defaults including constraints, number bigint generated always as identity primary key,
      foreign key (org_id, survey_id, contact_id) references contacts (org_id, survey_id, id) on delete cascade);
    create index on link_visits (contact_id, visited_at desc);
    create index on link_visits (visited_at);
    create table ended_deliveries (
      like divided_deliveries including all,
      foreign key (org_id, webhook_id) references webhooks (org_id, id) on delete cascade);
    create or replace view deliveries as ${view!.query}`);
}

const ages = (days: number) =>
  `now() - interval '1 day' * (${days * (1 + oldPart)} * (1 - n::float8 / ${rows}))`;

async function costOfVisits({ db, postgres, orgId }: Scene): Promise<Costs> {
  const gone = async () => goneRows(db, visitsByTime, `visited_at < now() - interval '90 days'`);
  await db.unsafe(`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    select c.org_id, c.survey_id, c.id, 'view', 'GET', ${ages(visitsByTime.keptDays)}
    from generate_series(1, ${rows}) n join contacts c on c.token = 'token-' || (1 + n * 7919 % ${contacts})`);
  await db`vacuum analyze contacts, link_visits`;
  const visit = { kind: 'view', method: 'GET', score: 9, traced: false } as const;
  const each = repeated(postgres);
  return {
    'a visit of a link, which reads those of the last minute and writes one': await each((n) =>
      visitPersonalLink(db, `token-${1 + ((n * 13) % contacts)}`, visit),
    ),
    'the timeline of a person, which reads all of its visits': await each((n) =>
      listHistory(db, orgId, `${1 + n}@people.test`),
    ),
    'an old visit that goes, vacuum included': await perRow(postgres, gone),
  };
}

async function costOfDeliveries({ db, postgres, orgId, webhookIds }: Scene): Promise<Costs> {
  const gone = async () =>
    goneRows(db, endedDeliveriesByTime, `id < least_id_at(now() - interval '30 days')`);
  await db.unsafe(
    `insert into ended_deliveries (org_id, webhook_id, id, event_id, delivered_at, attempts, status_code, duration_ms)
     select $1, ($2::text::uuid[])[1 + n % ${webhooks}], id_at(at), id_at(at), at, 1, 200, 5
     from generate_series(1, ${rows}) n cross join lateral (select ${ages(endedDeliveriesByTime.keptDays)} as at) t`,
    [orgId, `{${webhookIds.join()}}`],
  );
  await db`vacuum analyze ended_deliveries`;
  const each = repeated(postgres);
  const of = (n: number) => ({ orgId, webhookId: webhookIds[n % webhooks]! });
  return {
    ...(await costOfOutcomes({ db, postgres, orgId, webhookIds })),
    'the newest fifty of a webhook, by the API': await each((n) =>
      listDeliveries(db, of(n), { atMost: 50, traceUrl: null }),
    ),
    'a page of them, in the app': await each((n) =>
      pageOfDeliveries(db, of(n), { page: 1, limit: 50, status: null }),
    ),
    'an old delivery that goes, vacuum included': await perRow(postgres, gone),
  };
}

async function costOfOutcomes({ db, postgres, orgId, webhookIds }: Scene): Promise<Costs> {
  const write = async (count: number) => {
    const pending = await db<{ id: string; webhook_id: string }[]>`
      insert into pending_deliveries (org_id, webhook_id, event_id)
      select ${orgId}, (${`{${webhookIds.join()}}`}::text::uuid[])[1 + n % ${webhooks}::int], gen_random_uuid()
      from generate_series(1, ${count * inBatch}::int) n
      returning id, webhook_id`;
    const row = { org_id: orgId, number: 1, status_code: 200, response_body: 'ok', duration_ms: 5 };
    const outcomes = pending.map((each) => ({ ...row, ...each, traceparent: null }));
    return async () => {
      for (let at = 0; at < outcomes.length; at += inBatch) {
        await saveDelivered(db, outcomes.slice(at, at + inBatch));
      }
    };
  };
  await (await write(20))();
  const measured = await write(batches);
  await db`checkpoint`;
  const before = await readWrites(db);
  const units = batches * inBatch;
  const { us } = await costOf({ units, parts: { postgres } }, measured);
  const { walBytes } = writesBetween(before, await readWrites(db), units);
  return {
    'the outcome of a delivery, in batches of 50': `${us.postgres.toFixed(1)} µs`,
    'its log, bytes': walBytes.toFixed(0),
  };
}

/** Microseconds of a statement, prepared as the service's are. */
const repeated =
  (postgres: ProcessorTime) =>
  async (work: (n: number) => Promise<unknown>): Promise<string> => {
    const run = async () => {
      for (let n = 0; n < rounds; n += 1) await work(n);
    };
    await run();
    return `${(await costOf({ units: rounds, parts: { postgres } }, run)).us.postgres.toFixed(1)} µs`;
  };

async function perRow(postgres: ProcessorTime, work: () => Promise<number>): Promise<string> {
  const { result, us } = await costOf({ units: 1, parts: { postgres } }, work);
  return `${(us.postgres / result).toFixed(2)} µs`;
}

/** Removes old rows as the nightly job does, and returns how many there were. */
async function goneRows(db: Db, divided: PartitionedTable, isOld: string): Promise<number> {
  const { table: name } = divided;
  const [{ kind } = { kind: 'r' }] = await db<{ kind: string }[]>`
    select relkind as kind from pg_class where oid = ${name}::regclass`;
  if (kind === 'r') {
    const { count } = await db.unsafe(`delete from ${name} where ${isOld}`);
    await db.unsafe(`vacuum ${name}`);
    return count;
  }
  const now = await timeOf(db);
  const old = (await all(db, divided)).filter((stretch) => isOver(divided, stretch, now));
  let count = 0;
  for (const stretch of old) {
    const [{ rows: had } = { rows: 0 }] = await db<{ rows: number }[]>`
      select reltuples::int as rows from pg_class where oid = ${stretch.name}::regclass`;
    count += had;
    await db.unsafe(`drop table ${stretch.name}`);
  }
  return count;
}
