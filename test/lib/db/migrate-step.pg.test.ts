import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect, one } from '../../../src/lib/db/db.ts';
import {
  beginStep,
  recordFailure,
  runAtOnce,
  runBatch,
  type StepSession,
} from '../../../src/lib/db/migrate-step.ts';
import { parseStep } from '../../../src/lib/db/migrate-step-files.ts';
import { leave, stepTable, touching } from '../../support/make/step-table.ts';

if (touching.kind !== 'batches') throw new Error('it has batches');
const batched = touching;
const other = { ...batched, name: '0070_other' };
const indexing = parseStep(
  '0070_indexing',
  '-- index concurrently\n-- For a test.\ncreate index concurrently things_by_note on things (note);\n',
);
if (indexing.kind === 'batches') throw new Error('it has none');
const atOnce = indexing;

const { db, url } = await stepTable({ rows: 10 });
await leave(db, [batched, other, atOnce]);
const connection = connect(url, { connections: 1 });
after(() => connection.end());
const session: StepSession = async (text, values = []) =>
  await connection.unsafe(text, [...values] as never[]);
const work = { session, worker: 'test' };

const rows = () => db`select * from migration_steps order by name`;
const rowOf = async (name: string) =>
  one(
    await db<{ last_key: number; rows_done: string; failure: string }[]>`
    select last_key, rows_done, failure from migration_steps where name = ${name}`,
  );

const verbs = {
  begin: (sha256: string) => beginStep(work, { ...batched, sha256 }),
  'one batch': (sha256: string) => runBatch(work, { ...batched, sha256 }, 4),
  'a failure': (sha256: string) => recordFailure(work, { ...batched, sha256 }, new Error('x')),
  'at once': (sha256: string) => runAtOnce(work, { ...atOnce, sha256 }),
};

for (const [name, verb] of Object.entries(verbs)) {
  test(`${name} changes the row of its step and text alone`, async () => {
    const before = await rows();
    await verb('another text');
    assert.deepEqual(await rows(), before);
    await verb(name === 'at once' ? atOnce.sha256 : batched.sha256);
    const changed = (await rows()).filter((row, place) => {
      return JSON.stringify(row) !== JSON.stringify(before[place]);
    });
    const own = name === 'at once' ? atOnce.name : batched.name;
    assert.deepEqual(
      changed.map((row) => row['name']),
      [own],
    );
  });
}

test('the rows of batches are counted and the last key is kept until there are no more', async () => {
  await db`update migration_steps set last_key = null, rows_done = 0 where name = ${other.name}`;
  const seen = [];
  for (let batch = 1; batch <= 4; batch++) {
    const outcome = await runBatch(work, other, 4);
    const { last_key, rows_done } = await rowOf(other.name);
    seen.push([outcome, last_key, Number(rows_done)]);
  }
  assert.deepEqual(seen, [
    ['more', 4, 4],
    ['more', 8, 8],
    ['more', 10, 10],
    ['ended', 10, 10],
  ]);
  const before = await rows();
  assert.equal(await runBatch(work, other, 4), 'taken');
  await recordFailure(work, other, new Error('x'));
  await beginStep({ ...work, worker: 'late' }, other);
  assert.deepEqual(await rows(), before);
});

test('a step that is done at once is one row', async () => {
  assert.equal((await rowOf(atOnce.name)).rows_done, '1');
});

const pauses = [
  { failures: 0, seconds: 2 },
  { failures: 1, seconds: 4 },
  { failures: 7, seconds: 256 },
  { failures: 8, seconds: 300 },
  { failures: 2000, seconds: 300 },
];

for (const { failures, seconds } of pauses) {
  test(`after ${failures} failures and one more a step rests for ${seconds} s`, async () => {
    await db`update migration_steps set failures = ${failures} where name = ${batched.name}`;
    const [{ before } = { before: '' }] = await db`select clock_timestamp()::text as before`;
    await recordFailure(work, batched, new Error('x'));
    const [row] = await db`
      select failures, retry_at - make_interval(secs => ${seconds})
                       between ${before}::text::timestamptz and clock_timestamp() as on_time
      from migration_steps
      where name = ${batched.name}`;
    assert.deepEqual(row, { failures: failures + 1, on_time: true });
  });
}

const reasons: [unknown, string][] = [
  [{ code: '53100' }, 'the disk of the database is full'],
  [{ code: '55P03' }, 'another transaction holds what it needs'],
  [{ code: '40P01' }, 'it and another transaction waited for each other'],
  [{ code: '57014' }, 'a batch of one row takes longer than 5s, or it was cancelled'],
  [{ code: '23505', table: 't' }, 'Postgres refused it with the error 23505 (table t)'],
  [{ code: '23505', table_name: 't' }, 'Postgres refused it with the error 23505 (table t)'],
  [{ code: '23505', constraint: 'c' }, 'Postgres refused it with the error 23505 (constraint c)'],
  [
    { code: '23505', table_name: 't', constraint_name: 'c' },
    'Postgres refused it with the error 23505 (table t, constraint c)',
  ],
  [new TypeError('ann@people.test'), 'TypeError'],
  [{ code: 7 }, 'an error without a name'],
];

for (const [error, reason] of reasons) {
  test(`a failure is said as "${reason}" for ${JSON.stringify(error)}`, async () => {
    await recordFailure(work, batched, error);
    assert.equal((await rowOf(batched.name)).failure, reason);
  });
}

test('a batch has limits for its statements and for its locks, and its session has none', async () => {
  const settings = `current_setting('statement_timeout') || ', ' || current_setting('lock_timeout')`;
  await db`update migration_steps set ended_at = null where name = ${batched.name}`;
  const batch = `select to_jsonb(${settings}) as last_key, 0 as rows where $1::text is distinct from '' and $2::integer = 1`;
  assert.equal(await runBatch(work, { ...batched, batch }, 1), 'more');
  assert.equal((await rowOf(batched.name)).last_key, '5s, 2s');
  assert.deepEqual([...(await session(`select ${settings} as now`))], [{ now: '0, 0' }]);
});

test('a batch after failures says nothing more of them, and what a step has estimated stays', async () => {
  await db`
    update migration_steps
    set ended_at = null, last_key = null, failures = 3, failure = 'x', retry_at = now(), rows_estimated = 7
    where name = ${batched.name}`;
  await beginStep(work, batched);
  await runBatch(work, batched, 1);
  const [row] = await db`
    select failures, failure, retry_at, rows_estimated from migration_steps where name = ${batched.name}`;
  assert.deepEqual({ ...row }, { failures: 0, failure: null, retry_at: null, rows_estimated: '7' });
});
