import { createLog } from '../../src/lib/log/log.ts';
import { openSession } from '../../src/lib/queue/lease.ts';
import type { Doom } from './mail-points.ts';
import { createSender } from './mail-sender.ts';

/** Sends like the service, in a process that dies by SIGKILL. The lock of its session shows others that it is alive. */
async function send({ poolId, point, nth, ...order }: Doom) {
  let passed = 0;
  const sender = createSender(order, (here) => {
    if (here === point) passed += 1;
    if (here === point && passed === nth) process.kill(process.pid, 'SIGKILL');
  });
  const session = await openSession(
    { url: order.databaseUrl },
    createLog({ level: 'fatal' }),
    'askback',
  );
  await session.register(poolId);
  await sender.cause(order);
  await sender.mail(order.orgId);
  await sender.close();
  await session.free([poolId]);
  await session.end();
}

await send(JSON.parse(process.argv[2]!) as Doom);
