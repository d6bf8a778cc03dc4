import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Refusal } from '../../src/errors.ts';
import { connect } from '../../src/lib/db/db.ts';
import { countProof } from '../../src/members/attempts.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db, url } = await testDatabase();

/** How many of so many attempts, all at once, are let through; and the longest wait that is asked for. */
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

test('an account gets ten attempts from one network address in 15 minutes, however many processes count', async () => {
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

test('a network address gets sixty over all accounts', async () => {
  const found = await attempt(70, () => ({ account: randomUUID(), address: '192.0.2.3' }));
  assert.equal(found.taken, 60);
});

test('an account gets a hundred a day over all addresses, and what cannot be guessed goes on', async () => {
  const account = randomUUID();
  const found = await attempt(110, (n) => ({ account, address: `198.51.100.${n}` }));
  assert.equal(found.taken, 100);
  const untilMidnight = (86_400_000 - (Date.now() % 86_400_000)) / 1000;
  assert.ok(Math.abs(found.wait - untilMidnight) < 60, String(found.wait));
  const passkey = { account, address: '203.0.113.1', isGuessable: false };
  assert.equal((await attempt(1, () => passkey)).taken, 1);
});

test('attempts that are refused count for nothing, and a right one is given back', async () => {
  const proof = { account: randomUUID(), address: '192.0.2.4' };
  for (let n = 0; n < 9; n++) await countProof(db, proof);
  for (let n = 0; n < 15; n++) await (await countProof(db, proof))();
  assert.equal((await attempt(5, () => proof)).taken, 1);
  const others = await attempt(60, () => ({ account: randomUUID(), address: proof.address }));
  assert.equal(others.taken, 50);
});

test('a right attempt that is given back after it counted no more takes away nothing', async () => {
  const proof = { account: randomUUID(), address: '192.0.2.10' };
  const giveBack = await countProof(db, proof);
  await age('1 day');
  await (await countProof(db, proof))();
  await giveBack();
  assert.equal((await attempt(12, () => proof)).taken, 10);
});

test('no 15 minutes have more than ten, wherever they begin', async () => {
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

test('a proof that names no account counts for its network address alone', async () => {
  const found = await attempt(70, () => ({ account: null, address: '192.0.2.8' }));
  assert.equal(found.taken, 60);
});
