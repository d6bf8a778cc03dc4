import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Refusal } from '../../src/errors.ts';
import { maxInFlight } from '../../src/webhooks/worker.ts';
import { startWebhookUnderTest } from '../support/make/webhook-under-test.ts';
import { testDatabase } from '../support/probe/database.ts';
import { after, inFlight, type Model, newModel, type Operation } from './model.ts';

/**
 * Compares random histories of the model and of Postgres with two processes. Concurrent operations must match the model
 * in some order. `ASKBACK_MODEL_RUNS=10000 make test only=webhooks/model` runs more. A failure prints its seed and the
 * shortest failing history.
 */
const runs = Number(process.env['ASKBACK_MODEL_RUNS'] ?? 200);
const patienceMs = 30_000;

const { db } = await testDatabase();
type Real = Awaited<ReturnType<typeof startWebhookUnderTest>>;

/** An operation before its target is chosen. */
type Wish = { do: Exclude<Operation['do'], 'wake'>; place: number; good: boolean };

const wish: fc.Arbitrary<Wish> = fc.record({
  do: fc.oneof(
    { weight: 60, arbitrary: fc.constant('emit' as const) },
    { weight: 100, arbitrary: fc.constant('answer' as const) },
    { weight: 40, arbitrary: fc.constantFrom('deactivate', 'reactivate', 'replay', 'rotate') },
    { weight: 3, arbitrary: fc.constant('delete' as const) },
  ) as fc.Arbitrary<Wish['do']>,
  place: fc.nat(15),
  good: fc.boolean(),
});
const alone: fc.Arbitrary<Wish[]> = fc.constant([{ do: 'retries due', place: 0, good: true }]);
const history = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.array(wish, { minLength: 1, maxLength: 4 }) },
    { weight: 2, arbitrary: alone },
  ),
  { minLength: 1, maxLength: 14 },
);

test('webhooks match the model in random histories', async () => {
  const property = fc.asyncProperty(history, (steps) => compare('standard', steps));
  await fc.assert(property, { numRuns: runs, endOnFailure: true });
});

/** Some deliveries fail all of their attempts, which would be rare by chance. */
const event = { do: 'emit', place: 0, good: true } as const;
const lastingFailure: Wish[][] = [
  [event, event, event],
  ...Array.from({ length: 8 }, () => [
    [0, 0, 0].map((place) => ({ do: 'answer', place, good: false }) as const),
    [{ do: 'retries due', place: 0, good: true } as const],
  ]).flat(),
];
const threeDays: Wish[] = [{ do: 'three days pass', place: 0, good: true }];
const longHistory = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: history.map((steps) => steps.slice(0, 3)) },
      { weight: 2, arbitrary: fc.constant([threeDays]) },
      { weight: 2, arbitrary: fc.constant(lastingFailure) },
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.flat());

test('extended retries match the model in random histories', async () => {
  const property = fc.asyncProperty(longHistory, (steps) => compare('extended', steps));
  await fc.assert(property, { numRuns: Math.ceil(runs / 5), endOnFailure: true });
});

async function compare(retries: Model['retries'], steps: readonly Wish[][]) {
  const real = await startWebhookUnderTest(db, retries);
  try {
    let model = newModel(retries);
    for (const [place, wishes] of steps.entries()) {
      model = await step(real, model, operationsOf(model, wishes, place * 10));
    }
  } finally {
    await real.end();
  }
}

/** Answers each delivery in flight once, within the limit of a queue. */
function operationsOf(model: Model, wishes: readonly Wish[], message: number): Operation[] {
  const hand = inFlight(model);
  const waiting = model.deliveries.filter(({ status }) => status !== 'delivered').length;
  let room = maxInFlight - waiting;
  return wishes.flatMap((each, place): Operation[] => {
    if (each.do === 'emit') return room-- > 0 ? [{ do: 'emit', message: message + place }] : [];
    if (each.do !== 'answer') return [{ do: each.do }];
    const [delivery] = hand.splice(each.place % Math.max(hand.length, 1), 1);
    return delivery ? [{ do: 'answer', message: delivery.message, good: each.good }] : [];
  });
}

/** Runs the operations concurrently and waits until Postgres matches the model in some order. */
async function step(real: Real, before: Model, operations: readonly Operation[]): Promise<Model> {
  await Promise.all(operations.map((each) => real.run(each).catch(refused)));

  const possible = outcomes(before, operations);
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    await real.run({ do: 'wake' }); // like the jobs of these rows
    const seen = await real.state();
    const model = possible.find((each) => isDeepStrictEqual(seen, shown(each)));
    if (model) return model;
    if (Date.now() > giveUpAt) {
      assert.deepEqual(seen, shown(possible[0]!), `after ${JSON.stringify(operations)}`);
    }
  }
}

function refused(error: unknown) {
  if (!(error instanceof Refusal)) throw error;
}

/** A queue can claim between any two operations, and claims at the end. */
function outcomes(before: Model, operations: readonly Operation[]): Model[] {
  const awake = after(before, { do: 'wake' });
  const ends = operations.flatMap((each, place) => {
    const rest = operations.toSpliced(place, 1);
    const then = after(before, each);
    const looked = after(then, { do: 'wake' });
    return [...outcomes(then, rest), ...(rest.length > 0 ? outcomes(looked, rest) : [])];
  });
  return operations.length === 0 ? [awake] : unique(ends);
}

const unique = (models: readonly Model[]) => [
  ...new Map(models.map((model) => [JSON.stringify(model), model])).values(),
];

const shown = (model: Model) => {
  const { active, failures, rotated, switchedOff } = model;
  const deliveries = model.deliveries
    .map(({ message, status, attempts }) => `${message} ${status} ${attempts} ${attempts}`)
    .sort();
  const webhook = { active, failures, rotated, switchedOff, deliveries };
  const held = inFlight(model)
    .map(({ message, inFlight }) => `${message} ${inFlight}`)
    .sort();
  return { webhook: model.exists ? webhook : null, held };
};
