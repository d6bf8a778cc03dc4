import { setTimeout as sleep } from 'node:timers/promises';
import { connect, isDatabaseAway, one } from '../../src/lib/db/db.ts';
import {
  balance,
  isFailure,
  type Line,
  requestLines,
  resumedLines,
  servedAgain,
  serviceLines,
} from './books.ts';
import { addressOf, type Member, nextLeader, rolesOf, startPatroni } from './patroni.ts';
import { createHome, signalAll } from './programs.ts';
import { startLeaderProxy } from './proxy.ts';
import { leadsOnlyToPrimary, until } from './reach.ts';
import { type DrillScene, stage } from './scene.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/**
 * Cut off: nothing passes between the leader and its clients, the other members and etcd, and no connection
 * breaks. Later the network is mended, and the old leader has to join the new one.
 */
type Way = 'killed' | 'cut off' | 'handed over';

const paces = { whole: 25, short: 8 };
const resumeWithinMs = 5000;
const [beforeMs, afterMs] = [6000, 14_000];
/** In short no time is promised: other work on the machine may delay callers by this much, and the drill goes on until they are served. */
const servedWithinMs = 120_000;

/** How the service finds the leader: all members are in its address, or HAProxy leads to the one. */
type Route = 'hosts' | 'proxy';
type Members = readonly Member[];
type Failover = { way: Way; route: Route };

/** Three Postgres under Patroni lose their leader, while callers go on and ask again after a failure. */
export async function failover({ way, route }: Failover, { short }: { short: boolean }) {
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  const { members } = ends.adopt(await startPatroni(home.path), ({ end }) => end());
  const { leader } = await nextLeader(members);
  const databaseUrl = route === 'proxy' ? await throughProxy(home.path) : addressOf(members);
  const answers = (short ? paces.short : paces.whole) * 180;
  const staged = await stage({ databaseUrl, leaderUrl: leader.url, processes: 2, answers });
  const scene = ends.adopt(staged, ({ close }) => close());
  return await loseLeader({ way, leader, members, short }, scene);

  async function throughProxy(path: string): Promise<string> {
    const { url, program } = startLeaderProxy(path, members);
    ends.defer(() => program.end());
    await until('the proxy leads to the leader', () => leadsOnlyToPrimary(url, members.length));
    return url;
  }
}

type Loss = { way: Way; leader: Member; members: Members; short: boolean };

async function loseLeader({ way, leader, members, short }: Loss, scene: DrillScene) {
  const answersPerSecond = short ? paces.short : paces.whole;
  const { traffic, stop } = startTraffic(scene, {
    answersPerSecond,
    contactsPerSend: 10,
    again: true,
  });
  const goOn = async (after: string, ms: number): Promise<Line[]> => {
    if (short) return [await servedAgain(traffic, { after, limitMs: servedWithinMs })];
    await sleep(ms);
    return [];
  };
  const served = await goOn('the beginning', beforeMs);
  const brokenAt = Date.now();
  await breakLeader(way, leader);
  const others = members.filter((member) => member !== leader);
  const { at: aliveAt } = await nextLeader(others);
  served.push(...(await goOn('another member led', afterMs / 2)));
  if (way === 'cut off') leader.mend();
  if (way === 'cut off' || !short)
    served.push(...(await goOn('the network was mended', afterMs / 2)));
  await stop();
  return [
    { what: 'ms until another member led', count: aliveAt - brokenAt },
    ...requestLines(traffic),
    { what: 'failed requests, asked again', count: traffic.attempts.filter(isFailure).length },
    ...served,
    ...(short ? [] : resumedLines(traffic, aliveAt, { limitMs: resumeWithinMs })),
    ...(await balanceAtLeader(members, scene, traffic)),
    { what: 'members', count: (await rolesOf(others)).toSorted().join(', ') },
    ...serviceLines(scene),
  ];
}

/** A slow machine may change leaders once more while the books are read: they are read again, at the new one. */
async function balanceAtLeader(members: Members, scene: DrillScene, traffic: Traffic) {
  const giveUpAt = performance.now() + servedWithinMs;
  for (;;) {
    try {
      return await readBooks(members, scene, traffic);
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > giveUpAt) throw error;
      await sleep(1000);
    }
  }
}

/** The timeline counts changes of leaders from 1. */
async function readBooks(members: Members, scene: DrillScene, traffic: Traffic) {
  const { leader } = await nextLeader(members);
  const db = connect(leader.url, { connections: 2 });
  try {
    const { timeline } = one(
      await db<{ timeline: number }[]>`
        select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`,
    );
    const changes = { what: 'changes of leaders', count: timeline - 1, atLeast: 1 };
    return [changes, ...(await balance(db, scene, traffic))];
  } finally {
    await db.end({ timeout: 1 });
  }
}

async function breakLeader(way: Way, leader: Member) {
  if (way === 'killed') return signalAll(leader.pids(), 'SIGKILL');
  if (way === 'cut off') return leader.cut();
  const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name }),
  });
  if (!answer.ok) throw new Error(`no switchover: ${answer.status} ${await answer.text()}`);
}
