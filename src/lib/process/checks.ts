import { withinMs } from '../async/deadline.ts';

/** Looks at one thing and says what is wrong with it, if anything is. */
export type Check = () => string | undefined | Promise<string | undefined>;
export type Checks = Readonly<Record<string, Check>>;

const limitMs = 2000;

/** What is wrong, by the name of the check. A check that throws or does not end counts as failed. */
export async function failedChecks(checks: Checks): Promise<Record<string, string>> {
  const looks = Object.entries(checks).map(async ([name, check]) => [name, await inTime(check)]);
  return Object.fromEntries((await Promise.all(looks)).filter(([, why]) => why !== undefined));
}

/** A check that throws at once fails like one that throws later. */
const begin = async (check: Check) => await check();

async function inTime(check: Check): Promise<string | undefined> {
  try {
    return await withinMs(begin(check), limitMs, () => 'did not answer in time');
  } catch {
    return 'could not be checked';
  }
}
