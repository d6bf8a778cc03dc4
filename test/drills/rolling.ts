import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../../src/lib/db/db.ts';
import { startTemporary } from '../../src/lib/embedded-postgres/embedded.ts';
import { balance, isFailure, type Line, requestLines, serviceLines } from './books.ts';
import { createHome } from './programs.ts';
import { startServiceProxy } from './proxy.ts';
import { stage } from './scene.ts';
import { startTraffic } from './traffic.ts';

const processes = 4;
/** The proxy needs this long before it sends requests to a restarted process. */
const afterReadyMs = 1500;

/** Four processes behind HAProxy are restarted one after the other, while callers never retry. */
export async function rollingRestarts({ short }: { short: boolean }): Promise<Line[]> {
  const [rounds, answersPerSecond] = short ? [1, 20] : [2, 50];
  await using ends = new AsyncDisposableStack();
  const home = ends.adopt(createHome(), ({ remove }) => remove());
  const server = ends.adopt(await startTemporary(), ({ stop }) => stop());
  const db = ends.adopt(connect(server.url, { connections: 2 }), (it) => it.end({ timeout: 1 }));
  const settings = { ASKBACK_DRAIN_SECONDS: '3', ASKBACK_TRUSTED_PROXIES: '127.0.0.1/32' };
  const answers = answersPerSecond * 120;
  const staged = await stage({ databaseUrl: server.url, processes, answers, settings });
  const scene = ends.adopt(staged, ({ close }) => close());
  const proxy = startServiceProxy(home.path, scene.addresses);
  ends.defer(() => proxy.program.end());
  await sleep(afterReadyMs);
  const behind = { ...scene, addresses: [proxy.address] };
  const { traffic, stop } = startTraffic(behind, {
    answersPerSecond,
    contactsPerSend: 10,
    again: false,
  });
  let restarts = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const service of scene.services) {
      await service.stop();
      await service.start();
      await sleep(afterReadyMs);
      restarts += 1;
    }
  }
  await stop();
  return [
    { what: 'restarts', count: restarts, atLeast: processes },
    ...requestLines(traffic),
    { what: 'failed requests', count: traffic.attempts.filter(isFailure).length, atMost: 0 },
    ...(await balance(db, scene, traffic)),
    ...serviceLines(scene),
  ];
}
