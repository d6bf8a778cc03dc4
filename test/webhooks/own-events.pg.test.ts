import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDeliveries, idAt } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('a delivery says what the event of its own organization says, whichever others have its id', async () => {
  const statuses = ['pending', 'delivered', 'failed'];
  const ids = statuses.map((_, n) => idAt(new Date(Date.UTC(2026, 4, 1 + n))));
  const wanted: unknown[] = [];
  for (const event of ['response.received', 'survey.completed']) {
    const org_id = await makeOrganization(db);
    const webhook_id = await makeWebhook(db, org_id);
    const said = { event, body: `{"of":"${event}"}` };
    const rows = statuses.map((status, n) => ({
      ...said,
      org_id,
      webhook_id,
      status,
      id: ids[n]!,
    }));
    await addDeliveries(db, ...rows);
    const traceparent = `trace of ${event}`;
    const erased_at = new Date(Date.UTC(2026, 5, wanted.length + 1));
    await db`update events set traceparent = ${traceparent}, erased_at = ${erased_at} where org_id = ${org_id}`;
    for (const { id } of rows) wanted.push({ org_id, id, ...said, traceparent, erased_at });
  }
  const shown = await db`
    select org_id, id, event, body, traceparent, erased_at from deliveries order by event, id`;
  assert.deepEqual([...shown], wanted);
});
