import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPoolSlots } from '../../../src/lib/db/pool-slots.ts';
import { StatementUser, type Turn } from '../../../src/lib/db/pool-user.ts';

/** A pool whose one slot another group has, and statements that wait for it. */
function takenPool() {
  const slots = createPoolSlots({ connections: 2, processors: 1, now: () => 0 });
  const taken = slots.take('another', { start: () => {} });
  const release = () => slots.leave(taken);
  const [sent, refused]: [string[], string[]] = [[], []];
  const statement = (name: string, turn: Turn) => {
    const query = { reject: ({ code }: { code: string }) => void refused.push(`${name}: ${code}`) };
    const send = () => void sent.push(name);
    return new StatementUser(slots, turn, { query, send } as never);
  };
  return { slots, release, sent, refused, statement };
}

test('a statement that waits too long is refused, unless another of its turn has begun', () => {
  const { slots, release, sent, refused, statement } = takenPool();
  const begun = { it: false };
  const waits = statement('one', { group: 'a', begun, waitMs: 60_000 });
  waits.enter();
  begun.it = true;
  waits.refuseLate();
  assert.deepEqual(refused, []);
  begun.it = false;
  waits.refuseLate();
  assert.deepEqual(refused, ['one: POOL_BUSY']);
  assert.equal(slots.counts().waiting, 0);
  release();
  assert.deepEqual(sent, []);
});

test('a statement that has begun is refused no more, and keeps its slot until it has ended', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { slots, release, sent, refused, statement } = takenPool();
  const [first, second] = ['first', 'second'].map((name) =>
    statement(name, { group: 'a', waitMs: 5000 }),
  );
  first!.enter();
  second!.enter();
  t.mock.timers.tick(4999);
  release();
  assert.deepEqual([sent, refused], [['first'], []]);
  t.mock.timers.tick(1);
  assert.deepEqual([sent, refused], [['first'], ['second: POOL_BUSY']]);
  assert.deepEqual(slots.counts(), { total: 1, held: 1, waiting: 0, groups: 1 });
  first!.ended();
  assert.equal(slots.counts().held, 0);
});

test('a costly statement gives its processor back when it has ended, is refused, or is given up', () => {
  const { slots, release, sent, refused, statement } = takenPool();
  const controller = new AbortController();
  const turn = { group: 'a', costly: true };
  const held = () => [slots.processors.counts().held, slots.counts().waiting];
  const [late, givenUp, ends] = [
    statement('late', { ...turn, waitMs: 60_000 }),
    statement('given up', { ...turn, signal: controller.signal }),
    statement('ends', turn),
  ];
  late.enter();
  assert.deepEqual(held(), [1, 1]);
  late.refuseLate();
  assert.deepEqual(held(), [0, 0]);
  givenUp.enter();
  controller.abort({ code: 'GONE' });
  assert.deepEqual(held(), [0, 0]);
  ends.enter();
  release();
  assert.deepEqual([sent, refused], [['ends'], ['late: POOL_BUSY', 'given up: GONE']]);
  assert.deepEqual(held(), [1, 0]);
  ends.ended();
  assert.deepEqual(held(), [0, 0]);
});

test('a group with one of two statements still running leaves no other group alone', () => {
  let time = 0;
  const slots = createPoolSlots({ connections: 16, processors: 4, now: () => time });
  const [first, second] = [1, 2].map(() => slots.take('other', { start: () => {} }));
  slots.leave(first!);
  time = 5000;
  const crowd = () => slots.processors.take('crowd', { start: () => {} });
  for (let n = 0; n < 5; n++) crowd();
  assert.equal(slots.processors.counts().held, 2);
  slots.leave(second!);
  time = 10_000;
  crowd();
  assert.equal(slots.processors.counts().held, 4);
});
