import { setTimeout as sleep } from 'node:timers/promises';

/** Looks at one thing and says what is wrong with it, if anything is. */
export type Check = () => string | undefined | Promise<string | undefined>;
export type Checks = Readonly<Record<string, Check>>;

const limitMs = 2000;

/** What is wrong, by the name of the check. A check that throws or does not end counts as failed. */
export async function failedChecks(checks: Checks): Promise<Record<string, string>> {
  const looks = Object.entries(checks).map(async ([name, check]) => [name, await inTime(check)]);
  return Object.fromEntries((await Promise.all(looks)).filter(([, why]) => why !== undefined));
}

async function inTime(check: Check): Promise<string | undefined> {
  const ended = new AbortController();
  const timeout = sleep(limitMs, 'did not answer in time', { signal: ended.signal });
  try {
    return await Promise.race([check(), timeout]);
  } catch {
    return 'could not be checked';
  } finally {
    ended.abort();
    timeout.catch(() => {});
  }
}
