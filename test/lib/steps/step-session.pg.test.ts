import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openStepSession, type StepLease } from '../../../src/lib/steps/step-session.ts';
import { proxyTo } from '../../support/fakes/database-proxy.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { until } from '../../support/probe/until.ts';

const { db, url } = await testDatabase();

async function open(address = url): Promise<StepLease> {
  const lease = await openStepSession({ url: address }, 'program');
  after(() => lease.end());
  return lease;
}

test('the limits of a session of steps hold after a transaction is undone, and in no other session', async () => {
  const { session } = await open();
  const read = `
    select current_setting('statement_timeout') as longest, current_setting('TimeZone') as zone,
           current_setting('client_connection_check_interval') as looks, current_setting('application_name') as name`;
  await session('begin');
  await session('rollback');
  const own = { longest: '0', zone: 'UTC', looks: '1s', name: 'program migration steps' };
  assert.deepEqual(await session(read), [own]);
  const [other] = await db<{ looks: string }[]>`
    select current_setting('client_connection_check_interval') as looks`;
  assert.equal(other?.looks, '0');
});

test('one session has the lease until it ends, and an error of a statement does not end it', async () => {
  const [first, second] = [await open(), await open()];
  assert.deepEqual([await first.take(), await second.take()], [true, false]);
  await assert.rejects(first.session('select 1 / 0'), { code: '22012' });
  assert.deepEqual([first.isLost(), await second.take()], [false, false]);
  await first.end();
  assert.equal(first.isLost(), true);
  await until('the lease is free', () => second.take());
});

test('a session whose connection breaks is lost, while it rests and in a statement', async () => {
  const way = await proxyTo(url);
  const [idle, busy] = [await open(way.url), await open(way.url)];
  const failed = assert.rejects(busy.session('select pg_sleep(60)'));
  assert.deepEqual([idle.isLost(), busy.isLost()], [false, false]);
  await way.cut();
  await failed;
  assert.equal(busy.isLost(), true);
  await until('the other notices', () => idle.isLost());
  await assert.rejects(idle.session('select 1'));
});
