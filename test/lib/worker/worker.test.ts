import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createWorker, type WorkerOptions } from '../../../src/lib/worker/worker.ts';
import { until } from '../../support/probe/until.ts';

const program = () => new URL('./thread-program.ts', import.meta.url);

function workerFor(t: TestContext, over: Partial<WorkerOptions> = {}) {
  const options = { program, heapMb: 32, ...over };
  const worker = createWorker(options);
  t.after(worker.stop);
  const run = (name: string, input: unknown = null, { group = 'one', limitMs = 20_000 } = {}) =>
    worker.run({ name, input, group, limitMs });
  return { ...worker, run };
}

test('a task gets a copy of its input and returns its result', async (t) => {
  const { run } = workerFor(t);
  assert.deepEqual(await run('echo', { words: ['a', null, 3] }), { words: ['a', null, 3] });
});

test('a worker starts its thread with the first task and keeps it', async (t) => {
  const { run, isRunning } = workerFor(t);
  assert.equal(isRunning(), false);
  const [first, second] = [await run('whoAmI'), await run('whoAmI')];
  assert.equal(first, second);
});

test('a stopped worker ends its task and starts no other', async (t) => {
  const { run, stop, isRunning } = workerFor(t);
  const running = assert.rejects(run('spin'), { kind: 'stopped' });
  await until('the thread runs', async () => isRunning());
  await stop();
  await running;
  await assert.rejects(run('echo'), { kind: 'stopped' });
  assert.equal(isRunning(), false);
});

test('a task that throws does not end the thread', async (t) => {
  const { run } = workerFor(t);
  const thread = await run('whoAmI');
  await assert.rejects(run('fail'), { kind: 'failed', message: 'it failed' });
  await assert.rejects(run('unknown'), { kind: 'failed' });
  assert.equal(await run('whoAmI'), thread);
});

test('a task that exceeds its limit ends with its thread', async (t) => {
  const { run } = workerFor(t);
  const thread = await run('whoAmI');
  await assert.rejects(run('spin', null, { limitMs: 100 }), { kind: 'timeout' });
  assert.notEqual(await run('whoAmI'), thread);
});

test('a task whose limit passes while it waits fails alone', async (t) => {
  const { run } = workerFor(t);
  const thread = await run('whoAmI');
  const running = run('wait', 400);
  await assert.rejects(run('echo', 1, { limitMs: 50 }), { kind: 'busy' });
  await running;
  assert.equal(await run('whoAmI'), thread);
});

test('a thread that runs out of memory fails only its task', async (t) => {
  const { run } = workerFor(t);
  await assert.rejects(run('exhaustMemory'), { kind: 'failed' });
  assert.equal(await run('echo', 'well'), 'well');
});

test('a thread that ends in a task, or between two, is replaced', async (t) => {
  const { run, isRunning } = workerFor(t);
  await assert.rejects(run('end'), { kind: 'failed' });
  await run('endLater');
  await until('the thread has ended', async () => !isRunning());
  assert.equal(await run('echo', 'well'), 'well');
});
