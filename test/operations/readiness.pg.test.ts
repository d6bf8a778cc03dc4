import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const environment = { DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, PORT: '0' };

test('the service stays ready while the pool is exhausted', async () => {
  const service = startService({ ...environment, ASKBACK_DB_POOL: '8' });
  const address = addressIn(await service.ready());
  // An organization gets at most half of the connections.
  const clients = await Promise.all(Array.from({ length: 8 }, () => makeClient(db)));
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = db.begin(async (tx) => {
    await tx`lock table surveys in access exclusive mode`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const waiting = clients.flatMap(({ read }) =>
    Array.from({ length: 5 }, () => fetch(`${address}/api/v1/surveys`, { headers: read })),
  );
  // Five requests run: of eight connections one is for cancelling, one for lookups and one for jobs.
  await until('all others wait', async () => {
    const metrics = await (await fetch(`${address}/metrics`)).text();
    return /^askback_db_pool_waiting 35$/m.test(metrics);
  });
  // A check may time out on a busy machine, so it is repeated.
  await until('it is ready', async () => {
    const ready = await fetch(`${address}/readyz`);
    const { status } = (await ready.json()) as { status: string };
    return ready.status === 200 && status === 'ready';
  });
  release.resolve();
  await locking;
  const statuses = await Promise.all(waiting.map(async (answer) => (await answer).status));
  // On a busy machine this may take longer than a request waits for a connection.
  assert.ok(
    statuses.every((status) => status === 200 || status === 503),
    statuses.join(),
  );
  assert.equal(await service.stop(), 0);
});

test('serve warns about links that only work on this machine', async () => {
  const service = startService({ ...environment, HOST: '0.0.0.0' });
  await service.ready();
  assert.match(
    service.stderr.lines.join('\n'),
    /warning: links in emails begin with http:\/\/0\.0\.0\.0:\d+.*: set ASKBACK_PUBLIC_URL/,
  );
  assert.equal(await service.stop(), 0);
});
