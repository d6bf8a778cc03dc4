import { connect } from '../../src/platform/db.ts';
import { migrate } from '../../src/platform/migrate.ts';
import { broken, killAt, type Ledger, startPost } from './kills.ts';
import { points } from './mail-points.ts';

/** Kills a sending process at every point so many times, and counts what became of its mails. */
export async function* killMails(databaseUrl: string, times: number) {
  const db = connect(databaseUrl, { connections: 4 });
  const post = await startPost();
  await migrate(db);
  try {
    for (const point of points.filter((each) => each !== 'nowhere')) {
      const ledgers: Ledger[] = [];
      for (let kill = 0; kill < times; kill++) {
        ledgers.push(await killAt({ db, databaseUrl, post }, point));
      }
      yield { point, ...counted(ledgers), wrong: ledgers.flatMap(broken) };
    }
  } finally {
    await post.close();
    await db.end({ timeout: 1 });
  }
}

function counted(ledgers: readonly Ledger[]) {
  const mails = ledgers.flatMap((ledger) => ledger.mails);
  const count = (of: (mail: (typeof mails)[number]) => boolean) => mails.filter(of).length;
  return {
    kills: ledgers.filter(({ killed }) => killed).length,
    mails: mails.length,
    sent: count(({ status }) => status === 'sent'),
    unknown: count(({ status }) => status === 'unknown'),
    lost: count(({ status, arrived }) => status === 'sent' && arrived === 0),
    doubled: count(({ arrived }) => arrived > 1),
  };
}
