import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countPeople, listPeople } from '../../src/people/people.ts';
import { listDeliveriesOf } from '../../src/people/timeline.ts';
import { addDeliveries, idAt } from '../support/make/delivery-rows.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

async function scene() {
  const org_id = await makeOrganization(db);
  return { org_id, survey_id: await makeSurvey(db, org_id) };
}

test('people are sorted by when they were added', async () => {
  const of = await scene();
  const second = { ...of, survey_id: await makeSurvey(db, of.org_id) };
  const other = await scene();
  const [sent_at, responded_at] = [ago(50), ago(40)];
  await makeContact(db, of, {
    email: 'Eve@people.test',
    name: 'Eve',
    created_at: ago(90),
    sent_at: ago(800),
    responded_at,
  });
  const contact_id = await makeContact(db, second, {
    email: 'eve@people.test',
    name: 'Eve',
    created_at: ago(100),
    sent_at,
    responded_at: ago(45),
  });
  await makeResponse(db, second, { contact_id, score: 9 });
  const same = ago(300);
  await makeContact(db, of, { email: 'a@twins.test', created_at: same });
  await makeContact(db, of, { email: 'b@twins.test', created_at: same });
  await makeContact(db, of, { email: 'ben@people.test', created_at: ago(500) });
  await makeContact(db, other, { email: 'eve@people.test', sent_at: ago(1) });

  const page = (page: number, limit = 2) =>
    listPeople(db, of.org_id, { query: { search: '', filter: { all: [] } }, page, limit });
  const [first, last] = [await page(1), await page(2)];
  assert.deepEqual(
    [...first, ...last].map(({ email }) => email),
    ['Eve@people.test', 'b@twins.test', 'a@twins.test', 'ben@people.test'],
  );
  assert.partialDeepStrictEqual(first[0], {
    name: 'Eve',
    last_asked_at: sent_at,
    scores: [{ type: 'nps', score: 9, category: 'promoter' }],
  });
  assert.equal(await countPeople(db, of.org_id, { search: '', filter: { all: [] } }), 4);
});

test('deliveries of an answer are found by time and id', async () => {
  const of = await scene();
  const contact_id = await makeContact(db, of, { email: 'Eve@people.test' });
  const at = ago(3600);
  const id = await makeResponse(db, of, { contact_id, created_at: at });
  const other = await makeResponse(db, of, { created_at: at });
  const webhook_id = await makeWebhook(db, of.org_id, { url: 'https://one.test/' });
  await makeWebhook(db, of.org_id, { url: 'https://two.test/' });
  const after = (seconds: number) => new Date(at.getTime() + seconds * 1000);
  const named = { org_id: of.org_id, webhook_id, body: JSON.stringify({ id }) };
  const [same, delivered, pending, failed] = await addDeliveries(
    db,
    { ...named, created_at: after(2), status: 'delivered', delivered_at: after(60) },
    { ...named, created_at: after(1), status: 'delivered', delivered_at: after(60) },
    { ...named, created_at: after(9) },
    { ...named, created_at: after(-9), status: 'failed' },
    { ...named, created_at: after(12) },
    { ...named, created_at: after(-12) },
    { ...named, created_at: after(1), body: JSON.stringify({ id: other }) },
  );
  const replay = idAt(after(300));
  await db`
    insert into ended_deliveries (org_id, webhook_id, id, event_id, attempts, delivered_at, is_replay)
    values (${of.org_id}, ${webhook_id}, ${replay}, ${delivered!}, 1, ${after(301)}, true)`;
  const found = await listDeliveriesOf(db, of.org_id, 'eve@PEOPLE.test');
  assert.deepEqual(
    found.map((one) => [one.delivery_id, one.status, one.at, one.url]),
    [
      [failed, 'failed', after(-9), 'https://one.test/'],
      [pending, 'pending', after(9), 'https://one.test/'],
      [delivered, 'delivered', after(60), 'https://one.test/'],
      [same, 'delivered', after(60), 'https://one.test/'],
    ],
  );
  const theirs = await listDeliveriesOf(db, (await scene()).org_id, 'eve@people.test');
  assert.equal(theirs.length, 0);
});
