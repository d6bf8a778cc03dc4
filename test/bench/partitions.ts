import { connect, type Db } from '../../src/lib/db/db.ts';
import { benchDatabase } from './database.ts';
import { costOf, type ProcessorTime, processorTimeOfPostgres } from './processor-time.ts';
import type { Section } from './report.ts';

const rows = 100_000;
const rounds = 2000;
const atOnce = 10;
const contacts = 50_000;
const webhooks = 30;
const oldPart = 0.25;

/** A table that grows and goes, as it is and in weekly partitions, with a default one for what fits in none. */
type Layout = { name: string; columns: string; days: number; values: string; ownerOf: string };

const owner = (word: string, count: number) =>
  `md5('${word}' || (n::integer % ${count})::text)::uuid`;

const layouts: readonly Layout[] = [
  {
    name: 'openings',
    columns: 'owner uuid not null, kind text not null, method text not null, score smallint',
    days: 90,
    values: `'view', 'GET', null::smallint`,
    ownerOf: owner('contact', contacts),
  },
  {
    name: 'deliveries',
    columns: `owner uuid not null, status text not null, attempts smallint not null, status_code smallint,
      response_body text, duration_ms integer, created_at timestamptz, delivered_at timestamptz`,
    days: 30,
    values: `'delivered', 1::smallint, 200::smallint, 'ok', 12, now(), now()`,
    ownerOf: owner('webhook', webhooks),
  },
];

type Figure = { what: string; plain: number; parted: number };

/** What partitions by week would save when old rows go, and what they cost until then, for the tables that grow most. */
export async function partitions(server: string): Promise<Section[]> {
  const { url, drop } = await benchDatabase(server);
  const db = connect(url, { connections: 1 });
  const postgres = await processorTimeOfPostgres(db);
  try {
    const sections: Section[] = [];
    for (const layout of layouts) sections.push(await compare({ db, postgres }, layout));
    return sections;
  } finally {
    await db.end({ timeout: 1 });
    await drop();
  }
}

type Tools = { db: Db; postgres: ProcessorTime };

async function compare(tools: Tools, layout: Layout): Promise<Section> {
  await createTables(tools.db, layout);
  const plain = await measure(tools, layout, `${layout.name}_plain`);
  const parted = await measure(tools, layout, `${layout.name}_parted`);
  const figures = Object.entries(plain).map(
    ([what, us]): Figure => ({ what, plain: us, parted: parted[what]! }),
  );
  const lines = figures.map((each) => `| ${each.what} | ${us(each.plain)} | ${us(each.parted)} |`);
  return {
    title: `${layout.name}: processor time of Postgres`,
    lines: ['| | one table | weekly partitions |', '|---|---:|---:|', ...lines],
  };
}

const us = (value: number) => `${value.toFixed(1)} µs`;

async function createTables(db: Db, { name, columns, days }: Layout) {
  const shape = `(id uuid not null default id_at(clock_timestamp()), ${columns}, primary key (owner, id))`;
  await db.unsafe(`
    create table ${name}_plain ${shape};
    create table ${name}_parted ${shape} partition by range (id);
    create table ${name}_parted_default partition of ${name}_parted default;`);
  const first = firstWeek(days);
  for (let week = first; week < 3; week += 1) {
    const from = `least_id_at(date_trunc('week', now()) + interval '${week} weeks')`;
    const to = `least_id_at(date_trunc('week', now()) + interval '${week + 1} weeks')`;
    await db.unsafe(`do $$ begin execute format(
      'create table ${name}_parted_${week - first} partition of ${name}_parted for values from (%L) to (%L)', ${from}, ${to}); end $$`);
  }
}

/** Microseconds for each row or statement, of which each is prepared, as the service's are. */
async function measure(
  { db, postgres }: Tools,
  layout: Layout,
  table: string,
): Promise<Record<string, number>> {
  const { days, values, ownerOf } = layout;
  const insert = (id: string, from: string) =>
    `insert into ${table} select ${id}, ${ownerOf}, ${values} from ${from}`;
  const age = `interval '1 day' * (${days * (1 + oldPart)} * (1 - n::float8 / ${rows}))`;
  await db.unsafe(insert(`id_at(now() - ${age})`, `generate_series(1, ${rows}) n`));
  await db.unsafe(`vacuum analyze ${table}`);

  const cost = async (units: number, work: () => Promise<unknown>) =>
    (await costOf({ units, parts: { postgres } }, work)).us.postgres;
  /** The first run pays for pages that were not written since the last checkpoint. */
  const repeat = async (units: number, text: string) => {
    const run = async () => {
      for (let n = 0; n < rounds; n += 1) await db.unsafe(text, [n * 7], { prepare: true });
    };
    await run();
    return await cost(units * rounds, run);
  };
  const mine = ownerOf.replace('n::integer', '$1::integer');
  const limit = `least_id_at(now() - interval '${days} days')`;
  const isPlain = table.endsWith('_plain');
  return {
    'a row of its own': await repeat(
      1,
      insert('id_at(clock_timestamp())', '(select $1::integer) one (n)'),
    ),
    'a row of ten': await repeat(
      atOnce,
      insert('id_at(clock_timestamp())', `generate_series($1::integer, $1 + ${atOnce - 1}) n`),
    ),
    'newest of the last minute': await repeat(
      1,
      `select id from ${table} where owner = ${mine} and id > least_id_at(now() - interval '1 minute') limit 10`,
    ),
    'newest fifty': await repeat(
      1,
      `select id from ${table} where owner = ${mine} order by id desc limit 50`,
    ),
    'an old row that goes': await cost((rows * oldPart) / (1 + oldPart), async () => {
      if (isPlain) await deleteOld(db, table, limit);
      else await dropOld(db, table, days);
    }),
  };
}

async function deleteOld(db: Db, table: string, limit: string) {
  const owners = await db.unsafe(`select distinct owner from ${table} where id < ${limit}`);
  for (let at = 0; at < owners.length; at += 1000) {
    const some = owners.slice(at, at + 1000).map(({ owner: each }) => each);
    await db.unsafe(`delete from ${table} where owner = any ($1::text::uuid[]) and id < ${limit}`, [
      `{${some.join()}}`,
    ]);
  }
  await db.unsafe(`vacuum ${table}`);
}

/** Whole weeks; the rest of the oldest one goes with the next week. */
async function dropOld(db: Db, table: string, days: number) {
  const first = firstWeek(days);
  for (let week = first; (week + 1) * 7 <= -days; week += 1) {
    await db.unsafe(`drop table ${table}_${week - first}`);
  }
}

/** Counted from this week. */
const firstWeek = (days: number) => -Math.ceil((days * (1 + oldPart)) / 7);
