import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import { type Db, isDatabaseAway } from './db.ts';
import { notWritable } from './servers.ts';

type Patience = { seconds: number; say: (sentence: string) => void };

const pollMs = 250;
/** Of one try. Longer than a connection may take to be made; the driver has no limit for what comes after. */
const answerLimitMs = 6000;
const noPostgres = 'it accepts connections, and does not answer as Postgres does';

/** Waits for a Postgres that is starting or unreachable. One that says no is not asked again. */
export async function awaitDatabase(db: Db, { seconds, say }: Patience) {
  const giveUpAt = Date.now() + seconds * 1000;
  for (let tries = 1; ; tries++) {
    const away = await whyAway(db);
    if (away === undefined) return;
    const { why, isOneOfSeveral } = away;
    if (Date.now() >= giveUpAt) {
      const sentence = isOneOfSeveral
        ? `no server took writes within ${seconds} seconds`
        : `the database at ${placeOf(db)} did not answer within ${seconds} seconds`;
      throw new Refusal('unavailable', `${sentence} (${why})`);
    }
    if (tries === 1) {
      const what = isOneOfSeveral ? 'a server that takes writes' : `the database at ${placeOf(db)}`;
      say(`waiting up to ${seconds} seconds for ${what} (${why})`);
    }
    await sleep(pollMs);
  }
}

/** Asks Postgres for nothing: an answer shows that it can be reached. */
export async function ping(db: Db): Promise<undefined> {
  await db`select 1`;
}

type Away = { why: string; isOneOfSeveral: boolean };

async function whyAway(db: Db): Promise<Away | undefined> {
  try {
    return await withinMs(ping(db), answerLimitMs, () => ({
      why: noPostgres,
      isOneOfSeveral: false,
    }));
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    const { message, code } = error as NodeJS.ErrnoException;
    return { why: message || String(error), isOneOfSeveral: code === notWritable };
  }
}

/** Where the database is, without the password that its address may carry. */
function placeOf({ options }: Db): string {
  return `${options.host[0]}:${options.port[0]}`;
}
