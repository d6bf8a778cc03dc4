import { setTimeout as sleep } from 'node:timers/promises';
import { connect, one } from '../../src/lib/db/db.ts';
import {
  balance,
  isFailure,
  type Line,
  requestLines,
  resumedLines,
  serviceLines,
} from './books.ts';
import { addressOf, type Member, nextLeader, rolesOf, startPatroni } from './patroni.ts';
import { createHome, signalAll } from './programs.ts';
import { startLeaderProxy } from './proxy.ts';
import { isAnswering, until } from './reach.ts';
import { type DrillScene, stage } from './scene.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/**
 * Cut off: nothing passes between the leader and its clients, the other members and etcd, and no connection
 * breaks. Later the network is mended, and the old leader has to join the new one.
 */
type Way = 'killed' | 'cut off' | 'handed over';

const [before, after, answersPerSecond] = [6000, 14_000, 25];
const resumeWithinMs = 5000;

/** How the service finds the leader: all members are in its address, or HAProxy leads to the one. */
type Route = 'hosts' | 'proxy';

/** Three Postgres under Patroni lose their leader, while callers go on and ask again after a failure. */
export async function failover(way: Way, route: Route): Promise<Line[]> {
  const home = createHome();
  const cluster = await startPatroni(home.path);
  const { leader: old } = await nextLeader(cluster.members);
  const others = cluster.members.filter((member) => member !== old);
  const proxy = route === 'proxy' ? startLeaderProxy(home.path, cluster.members) : undefined;
  const databaseUrl = proxy?.url ?? addressOf(cluster.members);
  if (proxy) await until('the proxy leads to the leader', () => isAnswering(proxy.url));
  const answers = answersPerSecond * 120;
  const scene = await stage({ databaseUrl, leaderUrl: old.url, processes: 2, answers });
  try {
    const pace = { answersPerSecond, contactsPerSend: 10, again: true };
    const { traffic, stop } = startTraffic(scene, pace);
    await sleep(before);
    const brokenAt = Date.now();
    await breakLeader(way, old);
    const { at: aliveAt } = await nextLeader(others);
    await sleep(after / 2);
    if (way === 'cut off') old.mend();
    await sleep(after / 2);
    await stop();
    return [
      { what: 'ms until another member led', count: aliveAt - brokenAt },
      ...requestLines(traffic),
      {
        what: 'failed requests, asked again',
        count: traffic.attempts.filter(isFailure).length,
      },
      ...resumedLines(traffic, aliveAt, { limitMs: resumeWithinMs }),
      ...(await balanceAtLeader(cluster.members, scene, traffic)),
      { what: 'members', count: (await rolesOf(others)).toSorted().join(', ') },
      ...serviceLines(scene),
    ];
  } finally {
    await scene.close();
    await proxy?.program.end();
    await cluster.end();
    home.remove();
  }
}

/** A slow machine may have seen more than one change of leaders: the timeline counts them from 1. */
async function balanceAtLeader(members: readonly Member[], scene: DrillScene, traffic: Traffic) {
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
