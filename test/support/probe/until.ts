import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once something that another process or connection does can be seen. */
export async function until(what: string, check: () => unknown) {
  for (let tries = 0; tries < 1000; tries++) {
    if (await check()) return;
    await sleep(10);
  }
  throw new Error(`waited in vain until ${what}`);
}
