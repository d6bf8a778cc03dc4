import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import {
  balance,
  isFailure,
  type Line,
  requestLines,
  resumedLines,
  serviceLines,
} from './books.ts';
import { type Member, nextLeader, rolesOf, startPatroni } from './patroni.ts';
import { createHome, signalAll } from './programs.ts';
import { startLeaderProxy } from './proxy.ts';
import { isAnswering, until } from './reach.ts';
import { stage } from './scene.ts';
import { startTraffic } from './traffic.ts';

/**
 * Cut off: Patroni, Postgres and all of its backends are stopped with SIGSTOP. Their connections stay open and
 * silent, as behind a switch that swallows packets, but that the kernel goes on to acknowledge: it is harder to
 * notice than a network that is gone. Later they go on, and still believe to lead.
 */
type Way = 'killed' | 'cut off' | 'handed over';

const [before, after, answersPerSecond] = [6000, 14_000, 25];
const resumeWithinMs = 5000;

/** Three Postgres under Patroni lose their leader, while callers go on and ask again after a failure. */
export async function failover(way: Way): Promise<Line[]> {
  const home = createHome();
  const cluster = await startPatroni(home.path);
  const proxy = startLeaderProxy(home.path, cluster.members);
  const databaseUrl = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  await until('the proxy leads to the leader', () => isAnswering(databaseUrl));
  const scene = await stage({ databaseUrl, processes: 2, answers: answersPerSecond * 120 });
  const db = connect(databaseUrl, { connections: 2 });
  try {
    const { traffic, stop } = startTraffic(scene, {
      ...{ answersPerSecond, contactsPerSend: 10, again: true },
    });
    await sleep(before);
    const old = await nextLeader(cluster.members);
    const others = cluster.members.filter((member) => member !== old.leader);
    const brokenAt = Date.now();
    await breakLeader(way, old.leader);
    const { at: aliveAt } = await nextLeader(others);
    await sleep(after / 2);
    if (way === 'cut off') signalAll(old.leader.pids(), 'SIGCONT');
    await sleep(after / 2);
    await stop();
    const failed = traffic.attempts.filter(isFailure);
    return [
      { what: 'ms until another member led', count: aliveAt - brokenAt },
      ...requestLines(traffic),
      { what: 'failed requests, asked again', count: failed.length },
      ...resumedLines(traffic, aliveAt, resumeWithinMs),
      ...(await balance(db, scene, traffic)),
      { what: 'members', count: (await rolesOf(others)).toSorted().join(', ') },
      ...serviceLines(scene),
    ];
  } finally {
    await scene.close();
    await db.end({ timeout: 1 });
    await proxy.program.end();
    await cluster.end();
    home.remove();
  }
}

async function breakLeader(way: Way, leader: Member) {
  if (way === 'killed') return signalAll(leader.pids(), 'SIGKILL');
  if (way === 'cut off') return signalAll(leader.pids(), 'SIGSTOP');
  const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: leader.name }),
  });
  if (!answer.ok) throw new Error(`no switchover: ${answer.status} ${await answer.text()}`);
}
