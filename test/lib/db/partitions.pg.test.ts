import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, type Sql } from '../../../src/lib/db/db.ts';
import { dropPartition, listPartitions } from '../../../src/lib/db/partition-changes.ts';
import { type PartitionedTable, stretchesAhead } from '../../../src/lib/db/partition-stretches.ts';
import { keepPartitions, listLacking } from '../../../src/lib/db/partitions.ts';
import { emptyDatabase } from '../../support/probe/database.ts';
import { untilLockWaits } from '../../support/probe/locks.ts';

const { db, url } = await emptyDatabase();
await db`create table owners (id int primary key)`;
await db`insert into owners select generate_series(1, 3)`;

/** A table of its own for each test, with a key to another one, an index and a generated column. */
async function dividedTable(table: string): Promise<PartitionedTable> {
  await db.unsafe(`
    create table ${table} (
      owner int references owners (id) on delete cascade, at timestamptz not null, word text not null,
      upper_word text generated always as (upper(word)) stored, primary key (owner, at)
    ) partition by range (at);
    create table ${table}_default partition of ${table} default;
    create index ${table}_by_word on ${table} (word)`);
  return { table, column: 'at', bound: 'timestamptz', stretchDays: 10, keptDays: 30 };
}

const insert = (sql: Sql, { table }: PartitionedTable, at: string, owner = 1) =>
  sql`insert into ${sql(table)} (owner, at, word) values (${owner}, ${at}, 'w')`;

async function partitionOf({ table }: PartitionedTable, at: string): Promise<string | undefined> {
  const [row] = await db<{ name: string }[]>`
    select tableoid::regclass::text as name from ${db(table)} where at = ${at}`;
  return row?.name;
}

const partitionsOf = async (divided: PartitionedTable) =>
  (await listPartitions(db, divided)).map(({ name }) => name);

const day = (time: string) => new Date(`${time}T12:00:00Z`);
const nothing = { made: [], dropped: [], complaints: [] };

test('rows go to the partition of their stretch, and to the default one when there is none', async () => {
  const visits = await dividedTable('routed');
  const round = await keepPartitions(db, visits, { now: day('2026-11-20') });
  assert.deepEqual(round, { ...nothing, made: ['routed_2026_11_13', 'routed_2026_11_23'] });
  assert.deepEqual(await keepPartitions(db, visits, { now: day('2026-11-20') }), nothing);
  for (const [at, name] of [
    ['2026-11-12T23:59:59.999999Z', 'routed_default'],
    ['2026-11-13T00:00:00Z', 'routed_2026_11_13'],
    ['2026-11-23T00:00:00Z', 'routed_2026_11_23'],
    ['2026-12-03T00:00:00Z', 'routed_default'],
  ] as const) {
    await insert(db, visits, at);
    assert.equal(await partitionOf(visits, at), name);
  }
});

test('partitions are listed oldest first, also where an older one was added later', async () => {
  const visits = await dividedTable('listed');
  await keepPartitions(db, visits, { now: day('2026-11-20') });
  await keepPartitions(db, visits, { now: day('2026-10-31') });
  const names = await partitionsOf(visits);
  assert.ok(names.length > 2);
  assert.deepEqual(names, names.toSorted());
});

test('one look finds the tables whose next rows lack a partition', async () => {
  const [whole, short] = [await dividedTable('whole'), await dividedTable('short')];
  await keepPartitions(db, whole);
  await keepPartitions(db, short);
  const now = new Date();
  const [, next] = stretchesAhead(short, now);
  await dropPartition(db, short, next!);

  assert.deepEqual(await listLacking(db, [whole, short]), [short]);
  await keepPartitions(db, short);
  assert.deepEqual(await listLacking(db, [whole, short]), []);
});

test('after weeks away rows of the stretch of now move out of the default partition', async () => {
  const visits = await dividedTable('away');
  await keepPartitions(db, visits, { now: day('2026-09-01') });
  await insert(db, visits, '2026-10-10T00:00:00Z');
  await insert(db, visits, '2026-11-20T00:00:00Z');
  await keepPartitions(db, visits, { now: day('2026-11-20') });
  assert.equal(await partitionOf(visits, '2026-10-10T00:00:00Z'), 'away_default');
  assert.equal(await partitionOf(visits, '2026-11-20T00:00:00Z'), 'away_2026_11_13');
  const [moved] = await db`select upper_word from away_2026_11_13`;
  assert.equal(moved?.['upper_word'], 'W');
});

test('the first and the last moment of each stretch move out of the default partition, those next to them stay', async () => {
  const visits = await dividedTable('moments');
  await keepPartitions(db, visits, { now: day('2026-09-01') });
  const moments = {
    '2026-11-12T23:59:59.999999Z': 'moments_default',
    '2026-11-13T00:00:00Z': 'moments_2026_11_13',
    '2026-11-22T23:59:59.999999Z': 'moments_2026_11_13',
    '2026-11-23T00:00:00Z': 'moments_2026_11_23',
    '2026-12-02T23:59:59.999999Z': 'moments_2026_11_23',
    '2026-12-03T00:00:00Z': 'moments_default',
  };
  for (const moment of Object.keys(moments)) await insert(db, visits, moment);
  await keepPartitions(db, visits, { now: day('2026-11-20') });
  for (const [moment, partition] of Object.entries(moments)) {
    assert.equal(await partitionOf(visits, moment), partition, moment);
  }
});

test('a partition has the indexes and foreign keys of its table', async () => {
  const visits = await dividedTable('like_it');
  await keepPartitions(db, visits, { now: day('2026-11-20') });
  await insert(db, visits, '2026-11-15T00:00:00Z', 3);
  await assert.rejects(insert(db, visits, '2026-11-15T00:00:00Z', 3), /duplicate key/);
  await assert.rejects(insert(db, visits, '2026-11-15T00:00:00Z', 99), /foreign key/);
  const [indexes] = await db`
    select count(*)::int as count from pg_index where indrelid = 'like_it_2026_11_13'::regclass`;
  assert.equal(indexes?.['count'], 2);
  await db`delete from owners where id = 3`;
  assert.equal(await partitionOf(visits, '2026-11-15T00:00:00Z'), undefined);
});

test('a partition is dropped when all of its rows are too old, and not a day before', async () => {
  const visits = await dividedTable('dropped');
  await keepPartitions(db, visits, { now: day('2026-09-01') });
  const [first] = await partitionsOf(visits);
  assert.equal(first, 'dropped_2026_08_25');
  const early = await keepPartitions(db, visits, { now: new Date('2026-10-03T23:59:59Z') });
  assert.deepEqual(early.dropped, []);
  const late = await keepPartitions(db, visits, { now: new Date('2026-10-04T00:00:00Z') });
  assert.deepEqual(late.dropped, ['dropped_2026_08_25']);
  assert.ok(!(await partitionsOf(visits)).includes('dropped_2026_08_25'));
});

test('several processes at once make and drop each partition once', async () => {
  const visits = await dividedTable('shared');
  await keepPartitions(db, visits, { now: day('2026-01-01') });
  const others = Array.from({ length: 4 }, () => connect(url, { connections: 1 }));
  const rounds = await Promise.all(
    others.map((other) => keepPartitions(other, visits, { now: day('2026-11-20') })),
  );
  await Promise.all(others.map((other) => other.end()));
  assert.deepEqual(
    rounds.flatMap(({ complaints }) => complaints),
    [],
  );
  assert.deepEqual(rounds.flatMap(({ made }) => made).sort(), await partitionsOf(visits));
  assert.equal(rounds.flatMap(({ dropped }) => dropped).length, 2);
});

test('while a reader holds the table nothing is dropped and writes go on; afterwards it is dropped', async () => {
  const visits = await dividedTable('held');
  await keepPartitions(db, visits, { now: day('2026-09-01') });
  await db.begin(async (reader) => {
    await reader`select from held`;
    const round = await keepPartitions(db, visits, { now: day('2026-11-20'), tries: 1 });
    assert.deepEqual(round.made.concat(round.dropped), []);
    assert.match(round.complaints.join('\n'), /other transactions hold the table/);
    await insert(db, visits, '2026-11-20T00:00:00Z');
  });
  const round = await keepPartitions(db, visits, { now: day('2026-11-20') });
  assert.deepEqual([round.made.length, round.dropped.length, round.complaints], [2, 2, []]);
  assert.equal(await partitionOf(visits, '2026-11-20T00:00:00Z'), 'held_2026_11_13');
});

test('a row that is written to a partition that goes is kept or refused, and not lost', async () => {
  const other = connect(url, { connections: 1 });
  let write: { at: string; outcome: Promise<'written' | 'refused'> } | undefined;
  const visits: PartitionedTable = {
    ...(await dividedTable('going')),
    keep: async (tx, { partition, kept }) => {
      await tx`insert into ${tx(kept)} select * from ${tx(partition)}`;
      if (write) return;
      const at = `${partition.slice(-10).replaceAll('_', '-')}T12:00:00Z`;
      const outcome = insert(other, visits, at).then(
        () => 'written' as const,
        () => 'refused' as const,
      );
      write = { at, outcome };
      await Promise.race([outcome, untilLockWaits(db)]);
    },
  };
  await keepPartitions(db, visits, { now: day('2026-09-01') });
  await keepPartitions(db, visits, { now: day('2026-11-20') });
  const { at, outcome } = write!;
  const isThere = (await partitionOf(visits, at)) !== undefined;
  assert.equal(await outcome, isThere ? 'written' : 'refused');
  await other.end();
});

test('a user who may not create tables leaves a sentence, and rows go to the default partition', async () => {
  const visits = await dividedTable('strange');
  const role = `reader_${new URL(url).pathname.slice(-12)}`;
  await db.unsafe(`create role ${role}; grant all on all tables in schema public to ${role}`);
  try {
    const own = connect(url, { connections: 1 });
    await own.unsafe(`set role ${role}`);
    const round = await keepPartitions(own, visits, { now: day('2026-11-20') });
    assert.match(round.complaints[0]!, /^the partition strange_2026_11_13 cannot be made now: the/);
    await insert(own, visits, '2026-11-20T00:00:00Z');
    await own.end();
  } finally {
    await db.unsafe(`drop owned by ${role}; drop role ${role}`);
  }
  assert.equal(await partitionOf(visits, '2026-11-20T00:00:00Z'), 'strange_default');
});

test('whatever Postgres refuses leaves its sentence, and rows stay in the default partition', async () => {
  const visits = await dividedTable('guarded');
  await insert(db, visits, '2026-11-20T00:00:00Z');
  await db.unsafe(`
    create function guard() returns trigger language plpgsql as $$ begin raise exception 'rows stay here'; end $$;
    create trigger guard before delete on guarded_default for each row execute function guard()`);
  const round = await keepPartitions(db, visits, { now: day('2026-11-20') });
  assert.deepEqual(round.complaints, [
    'the partition guarded_2026_11_13 cannot be made now: rows stay here',
  ]);
  assert.equal(await partitionOf(visits, '2026-11-20T00:00:00Z'), 'guarded_default');
});

test('a process that dies between its statements leaves nothing half made', async () => {
  const visits = await dividedTable('killed');
  await keepPartitions(db, visits, { now: day('2026-09-01') });
  const own = connect(url, { connections: 1 });
  const [{ pid }] = (await own`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
  const dying = {
    ...visits,
    keep: async () => {
      await db`select pg_terminate_backend(${pid})`;
    },
  };
  await assert.rejects(keepPartitions(own, dying, { now: day('2026-10-08') }));
  await own.end({ timeout: 1 }).catch(() => {});
  assert.equal((await partitionsOf(visits))[0], 'killed_2026_08_25');
  const round = await keepPartitions(db, visits, { now: day('2026-10-08') });
  assert.deepEqual([round.dropped, round.complaints], [['killed_2026_08_25'], []]);
});
