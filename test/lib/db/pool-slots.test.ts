import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPoolSlots, requestsOfNoGroup, serviceWork } from '../../../src/lib/db/pool-slots.ts';

const poolOf = (connections: number, processors = 4, now = () => 0) =>
  createPoolSlots({ connections, processors, now });

/** How many of these get a slot at once, each group as many as there are connections. */
function countHeld(connections: number, groups: readonly string[]) {
  const slots = poolOf(connections);
  for (let n = 0; n < connections; n++) {
    for (const group of groups) slots.take(group, { start: () => {} });
  }
  return slots.counts().held;
}

const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
/** By the number of connections: of one group, of many, of the service's work, and of requests of no group and many. */
const sizes: [connections: number, one: number, all: number, service: number, mixed: number][] = [
  [1, 1, 1, 1, 1],
  [2, 1, 1, 1, 1],
  [3, 1, 2, 1, 2],
  [7, 3, 6, 3, 6],
  [8, 4, 5, 5, 6],
  [9, 4, 6, 5, 7],
  [16, 8, 12, 9, 14],
];

for (const [connections, one, all, service, mixed] of sizes) {
  test(`of ${connections} connections a group has ${one} at most, and many have ${all}`, () => {
    assert.equal(countHeld(connections, ['a']), one);
    assert.equal(countHeld(connections, many), all);
    assert.equal(countHeld(connections, [serviceWork]), service);
    assert.equal(countHeld(connections, [requestsOfNoGroup, ...many]), mixed);
  });
}

for (const [connections, most] of [
  [4, 1],
  [7, 1],
] as const) {
  test(`of ${connections} connections the work of the service has ${most} before all others, and waits as they do for more`, () => {
    const slots = poolOf(connections);
    const started: string[] = [];
    const take = (group: string) => slots.take(group, { start: () => void started.push(group) });
    const places = Array.from({ length: connections - 1 }, (_, n) => take(`first ${n}`));
    for (const group of [serviceWork, serviceWork, serviceWork, 'a', 'b']) take(group);
    for (const place of places.slice(0, 3)) slots.leave(place);
    const later = started.slice(connections - 1);
    assert.deepEqual(later, [...Array<string>(most).fill(serviceWork), 'a', 'b'].slice(0, 3));
  });
}

test('a group that is not alone runs costly statements on half of the processors, and on one at least', () => {
  for (const [processors, half] of [
    [1, 1],
    [2, 1],
    [3, 1],
    [4, 2],
    [5, 2],
  ] as const) {
    let time = 0;
    const slots = poolOf(16, processors, () => time);
    const costly = () => slots.processors.take('crowd', { start: () => {} });
    slots.leave(slots.take('other', { start: () => {} }));
    for (let n = 0; n < 8; n++) costly();
    assert.equal(slots.processors.counts().held, half);
    time = 999;
    costly();
    assert.equal(slots.processors.counts().held, half);
    time = 1000;
    costly();
    assert.equal(slots.processors.counts().held, processors);
  }
});
