import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../../src/lib/log/log.ts';
import { type Claim, createClaims, requeue } from '../../../src/lib/work/claims.ts';
import { until } from '../../support/probe/until.ts';

const limits = { running: 2, claim: 3, ready: 9, known: 20 };

type Item = { id: string };

/** A table of items in memory, and a worker whose items run until the test ends them. */
function scene() {
  const table = new Map<string, 'free' | 'claimed'>();
  const runs: string[] = [];
  const open = new Map<string, (outcome: string | typeof requeue) => void>();
  const released: string[] = [];
  let failures = 0;
  const claims = createClaims<string, Item, { id: string; outcome: string }>({
    log: createLog({ level: 'silent' }),
    outage: { begins: 'begins', over: 'over' },
    lease: () => 'lease',
    limits,
    keyOf: (group) => group,
    tenantOf: (group) => group,
    fieldsOf: () => ({}),
    listDue: async () => [...new Set([...table.keys()].map((id) => id[0]!))],
    async claim(group, { atMost, known }: Claim) {
      if (failures-- > 0) throw new Error('the database is away');
      const due = [...table].filter(
        ([id, state]) => id[0] === group && state === 'free' && !known.includes(id),
      );
      due.sort(
        ([one], [other]) => Number(other.includes('urgent')) - Number(one.includes('urgent')),
      );
      const items = due.slice(0, atMost).map(([id]) => ({ id }));
      for (const { id } of items) table.set(id, 'claimed');
      return { items, hasMore: items.length === atMost };
    },
    async release(_, ids) {
      released.push(...ids);
      for (const id of ids) table.set(id, 'free');
    },
    async run({ id }) {
      runs.push(id);
      const outcome = await new Promise<string | typeof requeue>((end) => open.set(id, end));
      open.delete(id);
      return outcome === requeue ? requeue : { id, outcome };
    },
    async record({ id }) {
      table.delete(id);
    },
  });
  const add = (...ids: string[]) => {
    for (const id of ids) table.set(id, 'free');
  };
  const endAll = () => {
    for (const end of open.values()) end('done');
  };
  const fail = (times: number) => {
    failures = times;
  };
  return { claims, table, runs, open, released, add, endAll, fail };
}

test('a group runs all its items within its limit', async () => {
  const { claims, table, runs, open, add, endAll } = scene();
  add(...Array.from({ length: 20 }, (_, n) => `a${n}`));
  await claims.wake('a');
  assert.equal(open.size, limits.running);
  await until('all have run', () => {
    assert.ok(open.size <= limits.running);
    endAll();
    return table.size === 0;
  });
  assert.equal(new Set(runs).size, 20);
  assert.equal(runs.length, 20);
  await claims.stop();
});

test('a group that hangs delays no other', async () => {
  const { claims, open, add } = scene();
  add('a1', 'a2', 'a3', 'b1');
  await claims.sweep();
  assert.deepEqual([...open.keys()].toSorted(), ['a1', 'a2', 'b1']);
});

test('an item that is offered and claimed runs once', async () => {
  const { claims, runs, add, endAll } = scene();
  add('a1');
  const woken = claims.wake('a');
  claims.offer('a', { id: 'a1' });
  await woken;
  assert.deepEqual(runs, ['a1']);
  endAll();
  await claims.stop();
});

test('offers leave room for a claim, and the rest is claimed later', async () => {
  const { claims, table, runs, add, endAll } = scene();
  for (let n = 0; n < 20; n++) {
    add(`a${n}`);
    claims.offer('a', { id: `a${n}` });
  }
  add('a urgent');
  await claims.wake('a');
  await until('all have run', () => {
    endAll();
    return table.size === 0;
  });
  assert.ok(runs.indexOf('a urgent') <= limits.ready, `${runs.indexOf('a urgent')}`);
  assert.equal(new Set(runs).size, 21);
});

test('a failed claim rejects and is retried', async () => {
  const { claims, runs, add, endAll, fail } = scene();
  add('a1');
  fail(2);
  await assert.rejects(claims.wake('a'), /away/);
  await until('it runs', () => runs.length === 1);
  endAll();
  await claims.stop();
});

test('an item that is requeued is claimed again', async () => {
  const { claims, table, runs, open, add, endAll } = scene();
  add('a1');
  await claims.wake('a');
  table.set('a1', 'free');
  open.get('a1')!(requeue);
  await until('it runs again', () => runs.length === 2);
  endAll();
  await until('it is recorded', () => table.size === 0);
});

test('stop releases waiting items and records running ones', async () => {
  const { claims, table, released, add, endAll } = scene();
  add('a1', 'a2', 'a3', 'a4');
  await claims.wake('a');
  const stopped = claims.stop();
  claims.offer('a', { id: 'a5' });
  await claims.wake('a');
  endAll();
  await stopped;
  assert.deepEqual(released.toSorted(), ['a3', 'a4']);
  assert.deepEqual(
    [...table],
    [
      ['a3', 'free'],
      ['a4', 'free'],
    ],
  );
});
