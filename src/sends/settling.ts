import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isDatabaseAway, isDeadlock } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { mailed } from '../signals.ts';
import { unknownOutcome } from './rules.ts';
import { endedFacts } from './settled.ts';
import { giveUpBegun, lockMonths, type SettledMail, settleMails } from './settling.queries.ts';

const writeAgainMs = 250;
const writeForMs = 60_000;

/** One statement, but for mails that failed: their months are locked first. */
export async function writeOutcomes(db: Db, settled: readonly SettledMail[]) {
  const mayPass = (error: unknown) => isDatabaseAway(error) || isDeadlock(error);
  await tryOn(() => writeOnce(db, settled), mayPass);
  return settled.map(() => undefined);
}

/** Of mails that a dead process had begun nobody will ever know what became. */
export async function giveUp(db: Db, orgId: string, ids: readonly string[]) {
  const begun = await giveUpBegun(db, orgId, ids, unknownOutcome);
  for (const mail of begun) mailed.publish(endedFacts(mail, 'unknown'));
}

async function writeOnce(db: Db, settled: readonly SettledMail[]) {
  const failed = settled.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return await settleMails(db, settled);
  await inTransaction(db, async (tx) => {
    const ids = failed.map(({ id }) => id);
    await Promise.all([lockMonths(tx, ids), settleMails(tx, settled)]);
  });
}

/** What a mail server has said must not be forgotten because Postgres is away, or others stood in the way. */
export async function tryOn<T>(write: () => Promise<T>, mayPass: (error: unknown) => boolean) {
  for (let waitedMs = 0; ; waitedMs += writeAgainMs) {
    try {
      return await write();
    } catch (error) {
      if (!mayPass(error) || waitedMs >= writeForMs) throw error;
      await sleep(writeAgainMs);
    }
  }
}
