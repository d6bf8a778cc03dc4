import { setTimeout as sleep } from 'node:timers/promises';

/** A machine that runs all tests at once, and more, may need so long for what takes a second elsewhere. */
const patienceMs = 60_000;

/** Resolves once something that another process or connection does can be seen. */
export async function until(what: string, check: () => unknown) {
  const late = performance.now() + patienceMs;
  while (!(await check())) {
    if (performance.now() > late) throw new Error(`waited in vain until ${what}`);
    await sleep(10);
  }
}
