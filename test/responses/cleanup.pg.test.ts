import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { enqueue } from '../../src/jobs.ts';
import { cleanUpVisits, deleteOldVisits, deleteVisitsOf } from '../../src/responses/erase.ts';
import { listHistory } from '../../src/sends/queries.ts';
import { crontab, tasks } from '../../src/tasks.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { workOn } from '../support/probe/jobs.ts';
import { until } from '../support/probe/until.ts';

const { db, url } = await testDatabase();

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

test('link visits are kept for ninety days', async () => {
  const one = await contact();
  await visited(one, 'trap', '90 days 1 minute');
  await visited(one, 'view', '89 days 23 hours');

  await cleanUpVisits(taskTools(db));

  assert.deepEqual(await one.visits(), ['view']);
});

test('a timeline hides a visit of more than 90 days before it is deleted', async () => {
  const one = await contact();
  await visited(one, 'view', '90 days 6 hours');
  const shown = async () =>
    (await listHistory(db, one.org_id, one.email)).map(({ what }) => what).filter(isOpened);

  assert.deepEqual(await shown(), []);
  await visited(one, 'view', '89 days');
  assert.deepEqual(await shown(), ['opened']);
});

const isOpened = (what: string) => what === 'opened';

test('a response stays on hold without the visits that put it there', async () => {
  const one = await contact();
  const { org_id, survey_id, contact_id } = one;
  await visited(one, 'trap', '100 days');
  const held = { contact_id, source: 'link', held_reason: 'hidden_link' };
  const id = await makeResponse(db, { org_id, survey_id }, held);

  await cleanUpVisits(taskTools(db));

  const [answer] = await db`select held_reason from responses where id = ${id}`;
  assert.deepEqual([answer?.['held_reason'], await one.visits()], ['hidden_link', []]);
});

test('more visits than one batch are deleted in one go', async () => {
  const one = await contact();
  const { org_id, survey_id, contact_id } = one;
  await db`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    select ${org_id}, ${survey_id}, ${contact_id}, 'view', 'GET', now() - interval '1 year'
    from generate_series(1, 10001)`;

  await cleanUpVisits(taskTools(db));

  assert.deepEqual(await one.visits(), []);
});

test('of an age is what was visited at its first instant, and not what was at its last', async () => {
  const [own, other] = [await contact(), await contact()];
  const ages = ['401 days 1 microsecond', '401 days', '400 days 1 microsecond', '400 days'];
  // The time stands still in a transaction.
  await db.begin(async (tx) => {
    const left = async ({ contact_id }: Contact) =>
      (
        await tx<{ score: number }[]>`
          select score from link_visits where contact_id = ${contact_id} order by score`
      ).map(({ score }) => score);
    for (const { org_id, survey_id, contact_id } of [own, other]) {
      await tx`
        insert into link_visits (org_id, survey_id, contact_id, kind, method, score, visited_at)
        select ${org_id}, ${survey_id}, ${contact_id}, 'view', 'GET', place, now() - age::interval
        from unnest(${ages}::text[]) with ordinality as given (age, place)`;
    }
    const deleted = await deleteVisitsOf(tx, own.org_id, { fromDaysAgo: 401, toDaysAgo: 400 });
    assert.deepEqual([deleted, await left(own), await left(other)], [2, [1, 4], [1, 2, 3, 4]]);
    assert.equal(await deleteOldVisits(tx, { days: 400, atMost: 2 }), 2);
    assert.equal(await deleteOldVisits(tx, { days: 400, atMost: 9 }), 2);
    assert.deepEqual([await left(own), await left(other)], [[4], [4]]);
  });
});

test('old visits are deleted every night by a job', async (t) => {
  const one = await contact();
  await visited(one, 'view', '100 days');
  assert.ok(crontab.some(({ task }) => task === 'responses.clean_up'));
  await workOn(t, { url, tasks: tasks(taskTools(db)), crontab });

  await enqueue(db, [{ task: 'responses.clean_up', payload: {} }]);

  await until('the visit is deleted', async () => (await one.visits()).length === 0);
});
