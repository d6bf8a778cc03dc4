import { runMigrations } from 'graphile-worker';
import { connect } from '../../src/lib/db/db.ts';
import { migrate } from '../../src/lib/db/migrate.ts';
import { broken, type Ground, killAt, type Ledger, prepareKills } from './kills.ts';
import { type Cause, causes, type Point, points } from './mail-points.ts';

const people = 60;
const sideBySide = 4;

/** Kills a sending process at every point, and counts the outcomes of its mails. */
export async function* killMails(server: string, times: number) {
  const databaseUrl = await ownDatabase(server);
  const ground = await prepareKills(databaseUrl);
  try {
    for (const [cause, point] of causes.flatMap((each) =>
      points.map((at) => [each, at] as const),
    )) {
      const began = performance.now();
      const ledgers = await killOften(ground, { cause, point }, times);
      const seconds = (performance.now() - began) / 1000;
      yield {
        counts: { cause, point, ...counted(ledgers), seconds: Math.round(seconds) },
        wrong: ledgers.flatMap(broken),
      };
    }
  } finally {
    await ground.close();
  }
}

/** Commits do not wait for the disk. Postgres itself survives the kills, so every process sees all committed data. */
async function ownDatabase(server: string): Promise<string> {
  const admin = connect(server, { connections: 1 });
  const name = 'mail_kills';
  await admin`drop database if exists ${admin(name)} with (force)`;
  await admin`create database ${admin(name)}`;
  await admin`alter database ${admin(name)} set synchronous_commit to off`;
  await admin.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  const db = connect(url.href, { connections: 2 });
  await migrate(db);
  await db.end();
  await runMigrations({ connectionString: url.href });
  return url.href;
}

/** Runs a few kills at a time. They are spread over all mails except the last few. */
async function killOften(
  ground: Ground,
  { cause, point }: { cause: Cause; point: Point },
  times: number,
): Promise<Ledger[]> {
  const ledgers: Ledger[] = [];
  let next = 0;
  const worker = async () => {
    while (next < times) {
      const kill = next++;
      const nth = isOnceOnly(point) ? 1 : 1 + ((kill * 7) % people);
      ledgers.push(await killAt(ground, { point, nth, people, cause }));
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, worker));
  return ledgers;
}

const isOnceOnly = (point: Point) => point.includes('claim');

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
