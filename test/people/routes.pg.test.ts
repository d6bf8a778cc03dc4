import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueKey } from '../../src/keys/manage.ts';
import { listHistory } from '../../src/people/timeline.ts';
import { endDeliveries } from '../support/make/delivery-rows.ts';
import { makeClient, makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { ask, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

type ShownPerson = {
  data: { events: { what: string; webhook_id: string | null; reason: string | null }[] };
};

test('person API returns every event of an address', async () => {
  const asked = await ask(db);
  await db`update contacts set email = 'Ada@people.test' where id = ${asked.contact}`;
  await visitor(db).get(asked.personal);
  await visitor(db).post(asked.personal, { score: '9' });
  await db`insert into suppressions (org_id, email, kind) values (${asked.organization}, 'ada@people.test', 'unsubscribed')`;
  const { key } = await issueKey(db, asked.organization, { name: 'reads' });
  const { json } = reader(app, { 'X-API-Key': key });

  const { data } = await json<ShownPerson>('/api/v1/people/ada%40PEOPLE.test');
  assert.deepEqual(data.events.map(({ what }) => what).sort(), [
    'added',
    'answered',
    'not_delivered',
    'opened',
    'unsubscribed',
  ]);
  const delivery = data.events.find(({ what }) => what === 'not_delivered');
  assert.equal(delivery?.reason, 'response.received to https://hooks.test/');
  await endDeliveries(db, asked.organization);
  const after = await json<ShownPerson>('/api/v1/people/ada%40people.test');
  assert.ok(
    after.data.events.some(
      ({ what, webhook_id }) =>
        what === 'delivered' && webhook_id === delivery?.webhook_id && webhook_id !== null,
    ),
  );
});

test('person API answers 404 for an unknown address', async () => {
  const asked = await ask(db);
  await db`update contacts set email = 'eve@people.test' where id = ${asked.contact}`;
  const { read } = await makeClient(db);
  const { status } = reader(app, read);
  assert.equal(await status('/api/v1/people/eve%40people.test'), 404);
  assert.equal(await status('/api/v1/people/unknown'), 404);
});

test('history tells first mails from reminders', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const contact_id = await makeContact(db, { org_id, survey_id }, { email: 'eve@people.test' });
  const mails = [
    [0, 'sent'],
    [1, 'sent'],
    [2, 'sent'],
    [3, 'failed'],
  ] as const;
  for (const [reminder, status] of mails)
    await db`
      insert into mails (org_id, survey_id, contact_id, request_id, email, month, status, blocks_resend, reminder, reminds_of, claimed_at)
      values (${org_id}, ${survey_id}, ${contact_id}, gen_random_uuid(), 'Eve@people.test', '2026-05-01', ${status},
              ${status !== 'failed'}, ${reminder}, ${reminder > 0 ? contact_id : null}, now() + ${reminder}::int * interval '1 day')`;
  const history = await listHistory(db, org_id, 'eve@People.test');
  assert.deepEqual(
    history.map(({ what }) => what),
    ['added', 'sent', 'reminded', 'reminded', 'failed'],
  );
});
