import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { listHistory } from '../../src/people/timeline.ts';
import { cleanUpVisits } from '../../src/responses/erase.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function contact() {
  const org_id = await makeOrganization(db);
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  const email = `${randomUUID()}@people.test`;
  const contact_id = await makeContact(db, of, { email });
  return {
    ...of,
    email,
    contact_id,
    visits: async () =>
      [...(await db`select kind from link_visits where contact_id = ${contact_id}`)].map(
        ({ kind }) => kind,
      ),
  };
}
type Contact = Awaited<ReturnType<typeof contact>>;

async function visited({ org_id, survey_id, contact_id }: Contact, kind: string, age: string) {
  await db`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    values (${org_id}, ${survey_id}, ${contact_id}, ${kind}, 'GET', now() - ${age}::interval)`;
}

test('link visits are kept for 90 days', async () => {
  const one = await contact();
  await visited(one, 'trap', '90 days 1 minute');
  await visited(one, 'view', '89 days 23 hours');

  await cleanUpVisits(taskTools(db));

  assert.deepEqual(await one.visits(), ['view']);
});

test('the timeline hides visits older than 90 days before deletion', async () => {
  const one = await contact();
  await visited(one, 'view', '90 days 6 hours');
  const shown = async () =>
    (await listHistory(db, one.org_id, one.email)).map(({ what }) => what).filter(isOpened);

  assert.deepEqual(await shown(), []);
  await visited(one, 'view', '89 days');
  assert.deepEqual(await shown(), ['opened']);
});

const isOpened = (what: string) => what === 'opened';

test('a response stays on hold after its visits are deleted', async () => {
  const one = await contact();
  const { org_id, survey_id, contact_id } = one;
  await visited(one, 'trap', '100 days');
  const held = { contact_id, source: 'link', held_reason: 'hidden_link' };
  const id = await makeResponse(db, { org_id, survey_id }, held);

  await cleanUpVisits(taskTools(db));

  const [answer] = await db`select held_reason from responses where id = ${id}`;
  assert.deepEqual([answer?.['held_reason'], await one.visits()], ['hidden_link', []]);
});
