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
import { createHome } from './programs.ts';
import { stage } from './scene.ts';
import { type FullDisk, startOnSmallDisks } from './small-disk.ts';
import { startTraffic } from './traffic.ts';

const answersPerSecond = 25;
const resumeWithinMs = 5000;
/** What an operator reads of it: the service says that it cannot store, and that a later try may succeed. */
const refusedClearly = 503;

/**
 * The disk of the tables is full, and later that of the log of Postgres, which ends Postgres itself: its supervisor
 * starts it again until there is room. Callers ask again after a failure. A send waits for jobs, and those that failed
 * wait for the queue's next try.
 */
export async function fullDisk(which: FullDisk, { short }: { short: boolean }): Promise<Line[]> {
  const seconds = short ? 4 : 12;
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  const server = ends.adopt(await startOnSmallDisks(home.path), ({ stop }) => stop());
  const db = ends.adopt(connect(server.url, { connections: 2 }), (it) => it.end({ timeout: 1 }));
  const staged = await stage({ databaseUrl: server.url, processes: 1, answers: 20_000 });
  const scene = ends.adopt(staged, ({ close }) => close());
  const { traffic, stop } = startTraffic(scene, {
    answersPerSecond,
    contactsPerSend: 10,
    again: true,
  });
  await sleep(seconds * 500);
  const fullAt = Date.now();
  await server.fill(which);
  await sleep(seconds * 1000);
  const until = Date.now();
  await server.clear(which);
  await server.answers();
  const aliveAt = Date.now();
  await sleep(resumeWithinMs + seconds * 500);
  await stop();
  const failed = traffic.attempts.filter(isFailure);
  const whileFull = failed.filter(({ endedAt }) => endedAt >= fullAt && endedAt <= until);
  const unclear = failed.filter(({ status }) => status !== refusedClearly);
  return [
    ...requestLines(traffic),
    { what: 'requests refused while it was full', count: whileFull.length, atLeast: 1 },
    { what: 'failed requests without a clear refusal', count: unclear.length, atMost: 0 },
    ...resumedLines(traffic, aliveAt, { limitMs: resumeWithinMs, limited: ['answer', 'read'] }),
    ...(await balance(db, scene, traffic)),
    ...serviceLines(scene),
  ];
}
