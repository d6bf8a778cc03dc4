import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createOutbound } from '../../src/lib/outbound/post.ts';
import { maxInFlight } from '../../src/webhooks/worker.ts';
import {
  countDeliveries,
  emitTo,
  makeBacklog,
  makePool,
  workerOf,
} from '../support/make/deliveries.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const perHostConnections = 128;
const hangingWebhooks = 8;

/** A host shared by many organizations, like an automation service. Paths below `/hang` never answer. */
async function startHost() {
  const hanging: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url!.startsWith('/hang')) hanging.push(request.url!);
    else response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: (path: string) => `http://127.0.0.1:${port}${path}`, hanging, server };
}

test('eight hanging webhooks delay no other on the same host', async (t) => {
  const host = await startHost();
  const outbound = createOutbound({ allow: ['127.0.0.1/32'], http: true, perHostConnections });
  const worker = workerOf(db, outbound, await makePool(db));
  t.after(async () => {
    host.server.close();
    host.server.closeAllConnections();
    await outbound.close();
    await worker.stop();
  });

  const hanging = await makeOrganization(db);
  const webhooks = Array.from({ length: hangingWebhooks }, (_, n) =>
    makeWebhook(db, hanging, { url: host.url(`/hang/${n}`) }),
  );
  const ids = await Promise.all(webhooks);
  await emitTo(db, hanging, 3 * maxInFlight);
  await Promise.all(ids.map((webhook_id) => worker.wake({ org_id: hanging, webhook_id })));
  // Three quarters of the connections, and at least one for each webhook.
  await until(
    'the hanging organization has all it gets',
    () => host.hanging.length >= 96 && new Set(host.hanging).size === hangingWebhooks,
  );

  const other = await makeBacklog(db, 20);
  await db`update webhooks set url = ${host.url('/')} where id = ${other.webhook_id}`;
  const hangingBefore = host.hanging.length;
  await worker.wake(other);
  await until('the other webhook is served', async () => {
    return (await countDeliveries(db, other, 'delivered')) === 20;
  });
  assert.equal(host.hanging.length, hangingBefore);
  assert.ok(hangingBefore < perHostConnections);

  const ninth = {
    org_id: hanging,
    webhook_id: await makeWebhook(db, hanging, { url: host.url('/') }),
  };
  await emitTo(db, hanging, 20);
  await worker.wake(ninth);
  await until('the ninth webhook of the organization is served', async () => {
    return (await countDeliveries(db, ninth, 'delivered')) === 20;
  });
  assert.equal(host.hanging.length, hangingBefore, 'before an attempt of the others has timed out');
});
