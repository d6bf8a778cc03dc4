import { connect } from '../../src/platform/db.ts';
import { migrate } from '../../src/platform/migrate.ts';
import { broken, killAt, startPost } from './kills.ts';
import { points } from './mail-process.ts';

/** Kills a sending process at every point, as often as the word after it says (100 times). */
export async function killMails(databaseUrl: string, times: number) {
  const db = connect(databaseUrl, { connections: 4 });
  const post = await startPost();
  await migrate(db);
  const results = [];
  try {
    for (const point of points.filter((each) => each !== 'nowhere')) {
      const counts = { point, kills: 0, mails: 0, sent: 0, unknown: 0, lost: 0, doubled: 0 };
      const wrong: string[] = [];
      for (let kill = 0; kill < times; kill++) {
        const ledger = await killAt({ db, databaseUrl, post }, point);
        const count = (of: (mail: (typeof ledger.mails)[number]) => boolean) =>
          ledger.mails.filter(of).length;
        counts.kills += ledger.killed ? 1 : 0;
        counts.mails += ledger.mails.length;
        counts.sent += count(({ status }) => status === 'sent');
        counts.unknown += count(({ status }) => status === 'unknown');
        counts.lost += count(({ status, arrived }) => status === 'sent' && arrived === 0);
        counts.doubled += count(({ arrived }) => arrived > 1);
        wrong.push(...broken(ledger));
      }
      results.push({ ...counts, wrong });
    }
    return results;
  } finally {
    await post.close();
    await db.end({ timeout: 1 });
  }
}
