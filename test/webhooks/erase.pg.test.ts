import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { eraseBodiesOf } from '../../src/webhooks/retention.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const responseIds = [randomUUID(), randomUUID()];
const since = new Date(Date.now() - 60_000);
const bodyOf = (responseId: string, comment: string | null = 'treacle') =>
  JSON.stringify({ version: '1', responseId, comment });

const events: [what: string, event: string, body: string, ageMs: number, isErased: boolean][] = [
  ['of the first response', 'detractor.detected', bodyOf(responseIds[0]!), 0, true],
  ['of the second', 'detractor.detected', bodyOf(responseIds[1]!), 0, true],
  ['of another response', 'detractor.detected', bodyOf(randomUUID()), 0, false],
  ['without an excerpt', 'detractor.detected', bodyOf(responseIds[0]!, null), 0, false],
  ['of another kind', 'response.received', bodyOf(responseIds[0]!), 0, false],
  ['by a clock that is behind', 'detractor.detected', bodyOf(responseIds[0]!), 9_900, true],
];

async function deliver(org_id: string, [, event, body, ageMs]: (typeof events)[number]) {
  const created_at = new Date(since.getTime() - ageMs);
  const answer = { response_body: body, event, body, created_at };
  const webhooks = [await makeWebhook(db, org_id), await makeWebhook(db, org_id)] as const;
  const [event_id] = await addDeliveries(db, {
    org_id,
    webhook_id: webhooks[0],
    status: 'failed',
    attempts: 1,
    ...answer,
  });
  await db`
    insert into delivery_attempts ${db({ org_id, webhook_id: webhooks[0], delivery_id: event_id!, number: 1, error: body, response_body: body, duration_ms: 1 })}`;
  await db`
    insert into pending_deliveries (org_id, webhook_id, id, event_id)
    values (${org_id}, ${webhooks[1]}, id_at(${created_at}), ${event_id!})`;
}

const keptOf = async (org_id: string) => {
  const rows = await db`
    select status, event, body, response_body, erased_at is not null as erased,
           (select count(*)::int from delivery_attempts a
            where a.webhook_id = d.webhook_id and (a.error is not null or a.response_body is not null)) as said
    from deliveries d where org_id = ${org_id} order by status`;
  return rows.map((row) => ({ ...row }));
};

for (const given of events) {
  const [what, event, body, , isErased] = given;
  test(`${isErased ? 'erases' : 'keeps'} an event ${what}`, async () => {
    const [org_id, otherOrg] = [await makeOrganization(db), await makeOrganization(db)];
    for (const each of [org_id, otherOrg]) await deliver(each, given);
    await deliver(org_id, ['', 'detractor.detected', bodyOf(randomUUID()), 0, false]);
    const theirs = await keptOf(otherOrg);
    const count = await db.begin((tx) => eraseBodiesOf(tx, org_id, { responseIds, since }));
    assert.equal(count, isErased ? 2 : 0);
    const kept = (await keptOf(org_id)).filter(
      (row) => row['body'] === (isErased ? '' : body) && row['event'] === event,
    );
    const failed = {
      status: 'failed',
      response_body: isErased ? null : body,
      said: isErased ? 0 : 1,
    };
    const waits = { status: isErased ? 'skipped' : 'pending', response_body: null, said: 0 };
    assert.deepEqual(
      kept,
      [failed, waits].map((row) => ({
        ...row,
        event,
        body: isErased ? '' : body,
        erased: isErased,
      })),
    );
    assert.equal((await keptOf(org_id)).length, 4);
    assert.deepEqual(await keptOf(otherOrg), theirs);
  });
}
