import { setTimeout as sleep } from 'node:timers/promises';

/** A machine that runs all tests at once may need this long for the work of a second. */
const patienceMs = 60_000;

/** Resolves once a change by another process or connection is visible. */
export async function until(what: string, check: () => unknown) {
  const late = performance.now() + patienceMs;
  while (!(await check())) {
    if (performance.now() > late) throw new Error(`waited in vain until ${what}`);
    await sleep(10);
  }
}
