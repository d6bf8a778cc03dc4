import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFailedChecks } from '../../../src/lib/process/lifecycle.ts';

test('a check fails by its result, by an error, or after two seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late = Promise.withResolvers<undefined>();
  const never = new Promise<undefined>(() => {});
  const looking = findFailedChecks({
    fine: () => undefined,
    wrong: () => 'no room',
    broken: () => {
      throw new Error('secret');
    },
    late: () => late.promise,
    silent: () => never,
  });
  t.mock.timers.tick(1999);
  late.resolve(undefined);
  await new Promise(setImmediate);
  t.mock.timers.tick(1);
  assert.deepEqual(await looking, {
    wrong: 'no room',
    broken: 'could not be checked',
    silent: 'did not answer in time',
  });
});
