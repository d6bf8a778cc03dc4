import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Db } from '../../../src/lib/db/db.ts';
import type { Log } from '../../../src/lib/log/log.ts';
import { startDueTimes } from '../../../src/lib/queue/due-times.ts';
import { startLooking } from '../../../src/lib/queue/look.ts';
import { startPump } from '../../../src/lib/queue/pump.ts';
import { keptLog } from '../../support/probe/log.ts';

// What the loops of the queue do between two statements, by a clock that the test moves.

type Answer = () => Promise<unknown[]>;

/** A database that gives these answers one after the other, the last of them from then on. A part of a query asks nothing. */
function answering(...answers: Answer[]) {
  const state = { asked: 0 };
  const ask = () => answers[Math.min(state.asked++, answers.length - 1)]!();
  const db = () => ({
    // biome-ignore lint/suspicious/noThenProperty: a query is asked when it is awaited
    then: (...given: Parameters<Promise<unknown>['then']>) => ask().then(...given),
  });
  return { db: db as unknown as Db, state };
}

const handed = (count: number) => async () => [{ handed: count, soon: 0, tasks: [], backend: 1 }];
const away = () => Promise.reject(new Error('away'));

function pumping(...answers: Answer[]) {
  const { db, state } = answering(...answers);
  const { log, lines } = keptLog();
  const batches: number[] = [];
  const pump = startPump({ db, log, onHandedOver: ({ handed }) => void batches.push(handed) });
  return { pump, state, lines, batches };
}

test('a nudge is one more round, at whatever moment of a round it comes', async () => {
  for (let moment = 0; moment <= 20; moment += 1) {
    const { pump, state } = pumping(handed(0));
    pump.nudge();
    for (let turn = 0; turn < moment; turn += 1) await Promise.resolve();
    pump.nudge();
    await nextTurn();
    // Before the round has begun both are one.
    assert.equal(state.asked, 2, `${moment} turns after the first`);
  }
});

test('a full batch is followed by another, and an empty one wakes no runner', async () => {
  const { pump, state, batches } = pumping(handed(1000), handed(1000), handed(999), handed(0));
  pump.nudge();
  await nextTurn();
  assert.deepEqual([state.asked, batches], [3, [1000, 1000, 999]]);
  pump.nudge();
  await nextTurn();
  assert.deepEqual([state.asked, batches], [4, [1000, 1000, 999]]);
});

test('while the database is away the pump tries every 200 ms, and says so once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { pump, state, lines } = pumping(away, away, away, handed(1), away, handed(0));
  pump.nudge();
  await Promise.resolve();
  pump.nudge(); // of the round that fails
  const seen: number[] = [];
  for (const ms of [0, 199, 1, 199, 1, 200, 1000]) {
    t.mock.timers.tick(ms);
    await nextTurn();
    seen.push(state.asked);
  }
  assert.deepEqual(seen, [1, 1, 2, 2, 3, 4, 4]);
  const begins = ['warn', 'jobs cannot be handed to the queue, trying on', { err: 'away' }];
  const over = ['info', 'jobs are handed to the queue again', {}];
  assert.deepEqual(lines, [begins, over]);
  pump.nudge();
  await nextTurn();
  t.mock.timers.tick(200);
  await nextTurn();
  assert.deepEqual([state.asked, lines], [6, [begins, over, begins, over]]);
});

test('a pump that stops ends its round first, and begins none any more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const round = Promise.withResolvers<unknown[]>();
  const { db, state } = answering(() => round.promise, away);
  const { log } = keptLog();
  const pump = startPump({ db, log, onHandedOver: () => {}, everyMs: 1000 });
  const order: string[] = [];
  const stopped = pump.stop().then(() => order.push('stopped'));
  await nextTurn();
  order.push('the round ends');
  round.resolve(await handed(1000)());
  await stopped;
  assert.deepEqual(order, ['the round ends', 'stopped']);
  pump.nudge();
  t.mock.timers.tick(10_000);
  await nextTurn();
  assert.equal(state.asked, 1);
});

test('a pump that nothing else nudges looks at its start and every so often', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { db, state } = answering(handed(0));
  const { log } = keptLog();
  const pump = startPump({ db, log, onHandedOver: () => {}, everyMs: 1000 });
  const seen: number[] = [];
  for (const ms of [0, 999, 1, 999, 1]) {
    t.mock.timers.tick(ms);
    await nextTurn();
    seen.push(state.asked);
  }
  assert.deepEqual(seen, [1, 1, 2, 2, 3]);
  await pump.stop();
});

test('runners are woken at each due time, and not after the stop', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(performance, 'now', () => 10_000);
  let woken = 0;
  const { db, state } = answering(async () => [{ in_ms: 100 }, { in_ms: 101 }, { in_ms: 300 }]);
  const { log } = keptLog();
  const dueTimes = startDueTimes({ db, log, wake: () => (woken += 1) });
  dueTimes.look();
  dueTimes.look();
  await nextTurn();
  assert.equal(state.asked, 1);
  dueTimes.arm([100, 300, 800]);
  const seen: number[] = [];
  for (const ms of [99, 6, 190, 8]) {
    t.mock.timers.tick(ms);
    seen.push(woken);
  }
  // Those of 100 and 101 ms are a grain apart at most; what is known already is armed once.
  assert.deepEqual([seen[0], seen[2]! - seen[1]!, seen[3]! - seen[2]!], [0, 0, 1]);
  assert.ok(seen[1] === 1 || seen[1] === 2);
  dueTimes.arm([100]);
  t.mock.timers.tick(110);
  assert.equal(woken, seen[3]! + 1, 'a time that is over may come again');
  await dueTimes.stop();
  dueTimes.arm([1]);
  t.mock.timers.tick(5000);
  assert.equal(woken, seen[3]! + 1);
});

test('due times that cannot be looked for leave a line for a debugger', async () => {
  const { lines, log } = keptLog({ debugged: true });
  const dueTimes = startDueTimes({ db: answering(away).db, log, wake() {} });
  dueTimes.look();
  await dueTimes.stop();
  const words = 'cannot look for due jobs, the poll finds them';
  assert.deepEqual(lines, [['debug', words, { err: 'away' }]]);
});

test('what looks for work stops when its look has ended', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const { log } = keptLog();
  const rest = { log, wake() {}, onDeath() {}, pump: { nudge() {}, stop: async () => {} } };
  const begin = [
    (db: Db) => {
      const dueTimes = startDueTimes({ db, ...rest });
      dueTimes.look();
      return dueTimes;
    },
    (db: Db) =>
      startLooking({ db, ...rest, dueTimes: { look() {}, arm() {}, stop: async () => {} } }),
  ];
  for (const each of begin) {
    const look = Promise.withResolvers<unknown[]>();
    const order: string[] = [];
    const stopped = each(answering(() => look.promise).db)
      .stop()
      .then(() => order.push('stopped'));
    await nextTurn();
    order.push('the look ends');
    look.resolve([]);
    await stopped;
    assert.deepEqual(order, ['the look ends', 'stopped']);
  }
});

const found = { outbox: false, due_soon: [], death: false, other: false };

/** What a look does with what it finds. */
const looks: { finds: string; answer: Answer; does: string[]; line?: unknown[] }[] = [
  { finds: 'nothing', answer: async () => [found], does: ['arm '] },
  {
    finds: 'outbox rows',
    answer: async () => [{ ...found, outbox: true }],
    does: ['nudge', 'arm '],
  },
  { finds: 'jobs', answer: async () => [{ ...found, due_soon: [7, 9] }], does: ['arm 7,9'] },
  {
    finds: 'a death',
    answer: async () => [{ ...found, death: true }],
    does: ['arm ', 'death'],
  },
  { finds: 'other work', answer: async () => [{ ...found, other: true }], does: ['arm ', 'other'] },
  {
    finds: 'no database',
    answer: away,
    does: ['nudge'],
    line: ['debug', 'cannot look for work, trying on', { err: 'away' }],
  },
];

for (const { finds, answer, does, line } of looks) {
  test(`a look that finds ${finds} does: ${does.join(', ')}`, async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { db, state } = answering(answer);
    const done: string[] = [];
    const { lines, log } = keptLog({ debugged: true });
    const looking = startLooking({
      db,
      log,
      pump: { nudge: () => void done.push('nudge'), stop: async () => {} },
      dueTimes: {
        arm: (inMs) => void done.push(`arm ${inMs}`),
        look() {},
        stop: async () => {},
      },
      onDeath: () => void done.push('death'),
      otherWork: { exists: (sql) => sql`false`, onFound: () => void done.push('other') },
    });
    await nextTurn();
    const first = done.splice(0);
    t.mock.timers.tick(1000);
    await nextTurn();
    assert.deepEqual([first, done.splice(0)], [does, does]);
    assert.deepEqual(lines, line ? [line, line] : []);
    t.mock.timers.tick(1000);
    await looking.stop();
    t.mock.timers.tick(5000);
    await nextTurn();
    assert.deepEqual(done, answer === away ? does : [], 'after the stop');
    assert.ok(state.asked > 0);
  });
}

const pump = { nudge() {}, stop: async () => {} };
const dueTimes = { look() {}, arm() {}, stop: async () => {} };
const loops = {
  'a pump': (db: Db, log: Log) => startPump({ db, log, onHandedOver: () => {}, everyMs: 60_000 }),
  'what looks for work': (db: Db, log: Log) =>
    startLooking({ db, log, pump, dueTimes, onDeath: () => {} }),
  'what waits for due times': (db: Db, log: Log) => {
    const waiting = startDueTimes({ db, log, wake: () => {} });
    waiting.arm([60_000]);
    return waiting;
  },
};

for (const [name, start] of Object.entries(loops)) {
  test(`${name} keeps no process from its end once it has stopped`, async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const loop = start(answering(async () => [{ ...found, handed: 0 }]).db, keptLog().log);
    await nextTurn();
    const meanwhile = timers();
    await loop.stop();
    assert.deepEqual([meanwhile > before, timers()], [true, before]);
  });
}
