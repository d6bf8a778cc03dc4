import { getPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { serveTasks } from '../../../src/lib/worker/thread.ts';

/** Tasks of the thread for the tests of the worker. */
serveTasks({
  echo: (input: unknown) => input,
  whoAmI: () => threadId,
  priority: () => getPriority(),
  wait: (ms: number) => sleep(ms),
  fail: () => {
    throw new Error('it failed');
  },
  crash: () => {
    setImmediate(() => {
      throw new Error('it crashed');
    });
    return sleep(60_000);
  },
  spin: () => {
    for (;;);
  },
  exhaustMemory: () => {
    const hoard: number[][] = [];
    for (;;) hoard.push(new Array(100_000).fill(hoard.length));
  },
  end: () => process.exit(3),
  endLater: () => void setTimeout(() => process.exit(3), 5),
});
