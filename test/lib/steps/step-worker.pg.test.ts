import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connect, type Db, one } from '../../../src/lib/db/db.ts';
import { parseStep } from '../../../src/lib/db/migrate-step-files.ts';
import { describeSteps, listSteps, stepEnded } from '../../../src/lib/db/migrate-step-state.ts';
import { proxyTo } from '../../support/fakes/database-proxy.ts';
import {
  closeGate,
  countTouched,
  isWaitingAtGate,
  leave,
  work as startWork,
  stepTable,
  touching,
  waitingAtGate,
} from '../../support/make/step-table.ts';
import { keptLog } from '../../support/probe/log.ts';
import { until } from '../../support/probe/until.ts';

const allOnce = { none: 0, once: 300, often: 0 };
/** A test that fails leaves no worker that keeps its file from ending. */
function work(...given: Parameters<typeof startWork>) {
  const worker = startWork(...given);
  after(() => worker.stop());
  return worker;
}

const task = touching.name;
const goesOn = ['info', 'a step of a migration goes on', { task }];
const ended = ['info', 'a step of a migration ended', { task }];

const stateOf = async (db: Db) => one(await listSteps(db));

test('the rows of a step are worked on once each, and it says how far it is', async () => {
  const { db, url, steps } = await stepTable();
  await leave(db, steps);
  assert.equal(await stepEnded(db, touching.name), false);
  assert.match(describeSteps(await listSteps(db))!, /^step 0070_touching of a migration has not/);

  const open = await closeGate(db, url, 100);
  const worker = work(url, steps);
  await until('it is in the middle', () => isWaitingAtGate(db));
  const { rows_done, rows_estimated } = await stateOf(db);
  assert.ok(rows_done > 0 && rows_done < 100, `${rows_done} rows are done`);
  assert.equal(rows_estimated, 300);
  assert.match(
    describeSteps(await listSteps(db))!,
    /under way: \d+ of about 300 things \(\d+ %\)$/,
  );
  await open();

  await worker.ended;
  assert.deepEqual(await countTouched(db), allOnce);
  assert.equal(await stepEnded(db, touching.name), true);
  assert.equal((await stateOf(db)).rows_done, 300);
  assert.equal(describeSteps(await listSteps(db)), undefined);
});

for (const moment of ['in the middle of a batch', 'between two batches']) {
  test(`a process that is killed with -9 ${moment} loses nothing, and another goes on`, async () => {
    const { db, url, steps } = await stepTable();
    await leave(db, steps);
    const open = await closeGate(db, url, 100);
    const program = fileURLToPath(
      new URL('../../support/processes/step-process.ts', import.meta.url),
    );
    const child = fork(program, [url]);
    if (moment === 'between two batches') {
      await until('a batch is over', async () => (await stateOf(db)).rows_done > 20);
    } else {
      await until('a batch is open', () => isWaitingAtGate(db));
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const before = (await stateOf(db)).rows_done;
    await open();

    await work(url, steps, 'next').ended;

    assert.deepEqual(await countTouched(db), allOnce);
    const { rows_done, worker } = await stateOf(db);
    assert.deepEqual({ rows_done, worker }, { rows_done: 300, worker: 'next' });
    assert.ok(before > 0);
  });
}

test('of two processes one works, and the other goes on when it stops', async () => {
  const { db, url, steps } = await stepTable();
  await leave(db, steps);
  const open = await closeGate(db, url, 100);
  const logs = [keptLog(), keptLog()] as const;
  const first = work(url, steps, 'first', logs[0].log);
  await until('it is in the middle', () => isWaitingAtGate(db));
  const second = work(url, steps, 'second', logs[1].log);
  const stopped = first.stop();
  await open();
  await stopped;
  await second.ended;

  assert.deepEqual(await countTouched(db), allOnce);
  assert.equal((await stateOf(db)).worker, 'second');
  assert.equal((await db`select from workers`).length, 2);
  assert.deepEqual(
    logs.map(({ lines }) => lines),
    [[goesOn], [goesOn, ended]],
  );
});

test('a lease that is lost in the middle of a batch takes the batch with it', async () => {
  const { db, url, steps } = await stepTable();
  await leave(db, steps);
  const open = await closeGate(db, url, 100);
  const workers = [work(url, steps, 'first'), work(url, steps, 'second')];
  await until('one is in the middle', () => isWaitingAtGate(db));
  const [lost] = await waitingAtGate(db);
  await db`select pg_terminate_backend(${lost!})`;
  await until('the batch is open again, by another connection', async () => {
    const [pid] = await waitingAtGate(db);
    return pid !== undefined && pid !== lost;
  });
  const [{ touched } = { touched: null }] = await db`select touched from things where id = 100`;
  assert.equal(touched, 0);
  await open();

  await Promise.all(workers.map(({ ended }) => ended));
  assert.deepEqual(await countTouched(db), allOnce);
});

test('while the database is away a step waits, and goes on when it is back', async () => {
  const { db, url, steps } = await stepTable();
  await leave(db, steps);
  const open = await closeGate(db, url, 100);
  const way = await proxyTo(url);
  const { lines, log } = keptLog({ debugged: true });
  const worker = work(way.url, steps, 'test', log);
  await until('it is in the middle', () => isWaitingAtGate(db));
  await way.cut();
  await open();
  await way.mend();

  await worker.ended;
  assert.deepEqual(await countTouched(db), allOnce);
  assert.equal((await stateOf(db)).failures, 0);
  assert.deepEqual(
    lines.filter(([level]) => level !== 'debug'),
    [goesOn, goesOn, ended],
  );
  const [level, words, { err }] = lines[1]!;
  assert.deepEqual([level, words], ['debug', 'steps of a migration are interrupted']);
  assert.ok(err);
});

test('between its batches a step rests for three times as long as they take', async () => {
  const { db, url, steps } = await stepTable({ rows: 3 });
  await db`create table batches (began timestamptz, ended timestamptz)`;
  await db.unsafe(`
    create function take_a_while() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(0.06);
      insert into batches values (now(), clock_timestamp());
      return null;
    end $$;
    create trigger slow after update on things for each statement execute function take_a_while()`);
  await leave(db, steps);

  await work(url, steps).ended;

  const rests = await db<{ rest: number; took: number }[]>`
    select extract(epoch from lead(began) over (order by began) - ended)::float8 * 1000 as rest,
           extract(epoch from ended - began)::float8 * 1000 as took
    from batches
    order by began
    limit 2`;
  assert.equal(rests.length, 2);
  for (const { rest, took } of rests) assert.ok(rest > 2.9 * took, `${rest} ms after ${took} ms`);
});

test('a batch that takes too long is tried again with fewer rows', async () => {
  const { db, url, steps } = await stepTable({ rows: 40 });
  await db.unsafe(`
    create function refuse_many() returns trigger language plpgsql as $$
    begin
      if (select count(*) > 4 from changed) then raise sqlstate '57014'; end if;
      return null;
    end $$;
    create trigger few after update on things referencing new table as changed
      for each statement execute function refuse_many()`);
  await leave(db, steps);

  await work(url, steps).ended;

  assert.deepEqual(await countTouched(db), { none: 0, once: 40, often: 0 });
  assert.equal((await stateOf(db)).failures, 0);
});

test('a step that fails says why without what rows contain, keeps what is done, and is tried again', async () => {
  const { db, url, steps } = await stepTable();
  await db`
    alter table things add constraint things_touched_have_no_note check (touched = 0 or note is null)`;
  await db`update things set note = 'ann@people.test' where id = 100`;
  await leave(db, steps);
  const { lines, log } = keptLog();
  const worker = work(url, steps, 'test', log);

  await until('it has failed', async () => (await stateOf(db)).failures > 0);
  const said = describeSteps(await listSteps(db))!;
  assert.match(
    said,
    /^step 0070_touching of a migration failed .* and is tried again: Postgres refused it with the error 23514 \(table things, constraint things_touched_have_no_note\)$/,
  );
  assert.ok((await countTouched(db)).once > 0);

  await db`update things set note = null`;
  await worker.ended;
  assert.deepEqual(await countTouched(db), allOnce);
  const err =
    'new row for relation "things" violates check constraint "things_touched_have_no_note"';
  const failed = ['warn', 'a step of a migration failed and is tried again', { task, err }];
  assert.deepEqual(lines, [goesOn, failed, goesOn, ended]);
});

test('a batch of one row that takes too long is a failure, and says so', async () => {
  const { db, url, steps } = await stepTable({ rows: 3 });
  await db.unsafe(`
    create function refuse_all() returns trigger language plpgsql as $$
    begin
      raise sqlstate '57014';
    end $$;
    create trigger none_at_all before update on things for each row execute function refuse_all()`);
  await leave(db, steps);
  const worker = work(url, steps);

  await until('it has failed', async () => (await stateOf(db)).failures > 0);
  assert.match((await stateOf(db)).failure!, /^a batch of one row takes longer than 5s/);
  await db`drop trigger none_at_all on things`;
  await worker.ended;
  assert.deepEqual(await countTouched(db), { none: 0, once: 3, often: 0 });
});

test('a step that failed rests until it is due again', async () => {
  const { db, url, steps } = await stepTable();
  await leave(db, steps);
  await db`update migration_steps set failures = 1, failure = 'x', retry_at = now() + interval '1 hour'`;
  const worker = work(url, steps);

  const looks = new Set<number>();
  await until('it has looked twice', async () => {
    const [look] = await db<{ began: number }[]>`
      select extract(epoch from query_start)::float8 as began
      from pg_stat_activity
      where datname = current_database() and application_name = 'test migration steps'
        and query like 'select name, sha256%'`;
    if (look) looks.add(look.began);
    return looks.size > 1;
  });
  assert.deepEqual(await countTouched(db), { none: 300, once: 0, often: 0 });

  await db`update migration_steps set retry_at = now()`;
  await worker.ended;
  assert.deepEqual(await countTouched(db), allOnce);
});

test('a version with another text begins the step again, and the old one leaves it alone', async () => {
  const { db, url, steps } = await stepTable();
  await leave(db, steps);
  const open = await closeGate(db, url, 100);
  const old = work(url, steps, 'old');
  await until('it is in the middle', () => isWaitingAtGate(db));
  const next = {
    ...touching,
    sha256: 'next',
    batch: touching.kind === 'batches' ? touching.batch : '',
  };
  const left = leave(db, [next as typeof touching]);
  await open();
  await left;
  await old.ended;
  const { worker, rows_done } = await stateOf(db);
  assert.deepEqual({ worker, rows_done }, { worker: null, rows_done: 0 });

  await work(url, [next as typeof touching], 'new').ended;
  assert.equal((await stateOf(db)).worker, 'new');
  assert.equal((await countTouched(db)).none, 0);

  await leave(db, steps);
  assert.equal((await stateOf(db)).worker, 'new');
});

const indexing = parseStep(
  '0070_indexing',
  '-- index concurrently\n-- For a test.\ncreate unique index concurrently things_by_note on things (note);\n',
);
const isValid = async (db: Db) =>
  (await db`select from pg_index where indexrelid = to_regclass('things_by_note') and indisvalid`)
    .length > 0;

test('an index is built while others write, and a half-built one is removed first', async () => {
  const { db, url } = await stepTable();
  await db`update things set note = 'same' where id < 3`;
  await leave(db, [indexing]);
  const worker = work(url, [indexing]);
  await until('it has failed', async () => (await stateOf(db)).failure !== null);
  assert.match((await stateOf(db)).failure!, /23505/);
  assert.equal(await isValid(db), false);

  await db`update things set note = null`;
  await worker.ended;
  assert.equal(await isValid(db), true);
});

test('a process that stops while it builds an index gives it up, and the next one builds it', async () => {
  const { db, url } = await stepTable();
  await leave(db, [indexing]);
  const other = connect(url, { connections: 1 });
  const reserved = await other.reserve();
  await reserved`begin isolation level repeatable read`;
  await reserved`update things set touched = 0 where id = 1`;
  const worker = work(url, [indexing]);
  await until('the index waits for the transaction', async () => {
    const building = await db`
      select from pg_stat_activity
      where query like 'create unique index%' and wait_event_type = 'Lock'
        and datname = current_database()`;
    return building.length > 0;
  });
  await worker.stop();
  assert.equal((await stateOf(db)).ended_at, null);
  await reserved`rollback`;
  reserved.release();
  await other.end();

  await work(url, [indexing]).ended;
  assert.equal(await isValid(db), true);
});

test('a constraint is validated, and says which row offends by nothing but its name', async () => {
  const { db, url } = await stepTable();
  await db`alter table things add constraint things_are_small check (id < 300) not valid`;
  const validating = parseStep(
    '0070_validating',
    '-- validate constraint\nalter table things validate constraint things_are_small;\n',
  );
  await leave(db, [validating]);
  const worker = work(url, [validating]);
  await until('it has failed', async () => (await stateOf(db)).failure !== null);
  assert.match(
    (await stateOf(db)).failure!,
    /23514 \(table things, constraint things_are_small\)$/,
  );

  await db`delete from things where id = 300`;
  await worker.ended;
  const [found] =
    await db`select from pg_constraint where conname = 'things_are_small' and convalidated`;
  assert.ok(found);
});
