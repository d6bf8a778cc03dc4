import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Refusal } from '../../src/errors.ts';
import { connect } from '../../src/lib/db/db.ts';
import { countProof } from '../../src/members/attempts.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();

/** Makes concurrent attempts; returns the number that passed and the longest wait. */
async function attempt(
  times: number,
  proof: (n: number) => Parameters<typeof countProof>[1],
  pool = db,
) {
  const results = await Promise.allSettled(
    Array.from({ length: times }, (_, n) => countProof(pool, proof(n))),
  );
  const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  for (const error of refused) assert.ok(error instanceof Refusal, String(error));
  const waits = refused.map((error: Refusal) => error.retryInSeconds ?? 0);
  return { taken: times - refused.length, wait: Math.max(0, ...waits) };
}

const age = (by: string) => db`
  update proof_attempts
  set newest_at = newest_at - ${by}::interval,
      tried_at = array(select t - ${by}::interval from unnest(tried_at) t order by t)`;

test('an account gets ten attempts per client address in 15 minutes', async () => {
  const other = connect(url, { connections: 4 });
  const [account, address] = [randomUUID(), '192.0.2.1'];
  const halves = await Promise.all([
    attempt(20, () => ({ account, address })),
    attempt(20, () => ({ account: account.toUpperCase(), address }), other),
  ]);
  await other.end();
  assert.equal(halves[0].taken + halves[1].taken, 10);
  assert.ok(halves.every(({ wait }) => wait > 800 && wait <= 900));
  assert.equal((await attempt(1, () => ({ account, address: '192.0.2.2' }))).taken, 1);
  assert.equal((await attempt(1, () => ({ account: randomUUID(), address }))).taken, 1);
});

test('a client address gets sixty attempts across all accounts', async () => {
  const found = await attempt(70, () => ({ account: randomUUID(), address: '192.0.2.3' }));
  assert.equal(found.taken, 60);
});

test('an account gets a hundred guessable attempts a day', async () => {
  const account = randomUUID();
  const found = await attempt(110, (n) => ({ account, address: `198.51.100.${n}` }));
  assert.equal(found.taken, 100);
  const untilMidnight = (86_400_000 - (Date.now() % 86_400_000)) / 1000;
  assert.ok(Math.abs(found.wait - untilMidnight) < 60, String(found.wait));
  const passkey = { account, address: '203.0.113.1', isGuessable: false };
  assert.equal((await attempt(1, () => passkey)).taken, 1);
});

test('refused attempts and right ones do not count', async () => {
  const proof = { account: randomUUID(), address: '192.0.2.4' };
  for (let n = 0; n < 9; n++) await countProof(db, proof);
  for (let n = 0; n < 15; n++) await (await countProof(db, proof))();
  assert.equal((await attempt(5, () => proof)).taken, 1);
  const others = await attempt(60, () => ({ account: randomUUID(), address: proof.address }));
  assert.equal(others.taken, 50);
});

test('uncounting an expired attempt removes nothing', async () => {
  const proof = { account: randomUUID(), address: '192.0.2.10' };
  const giveBack = await countProof(db, proof);
  await age('1 day');
  await (await countProof(db, proof))();
  await giveBack();
  assert.equal((await attempt(12, () => proof)).taken, 10);
});

test('no window of 15 minutes has more than ten attempts', async () => {
  const proof = { account: randomUUID(), address: '192.0.2.7' };
  assert.equal((await attempt(4, () => proof)).taken, 4);
  await age('14 minutes');
  const { taken, wait } = await attempt(10, () => proof);
  assert.ok(taken === 6 && wait > 50 && wait <= 60, `${taken} ${wait}`);
  await age('61 seconds');
  assert.equal((await attempt(10, () => proof)).taken, 4);
  await age('13 minutes');
  assert.equal((await attempt(10, () => proof)).taken, 0);
});

test('a proof without an account only counts for its client address', async () => {
  const found = await attempt(70, () => ({ account: null, address: '192.0.2.8' }));
  assert.equal(found.taken, 60);
});
