import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enqueue } from '../../src/lib/queue/outbox.ts';
import { deleteOldVisits } from '../../src/responses/cleanup.ts';
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
  const contact_id = await makeContact(db, of);
  return {
    ...of,
    contact_id,
    openings: async () =>
      [...(await db`select kind from link_visits where contact_id = ${contact_id}`)].map(
        ({ kind }) => kind,
      ),
  };
}
type Contact = Awaited<ReturnType<typeof contact>>;

async function opened({ org_id, survey_id, contact_id }: Contact, kind: string, age: string) {
  await db`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    values (${org_id}, ${survey_id}, ${contact_id}, ${kind}, 'GET', now() - ${age}::interval)`;
}

test('who opened a link is known for ninety days', async () => {
  const one = await contact();
  await opened(one, 'trap', '90 days 1 minute');
  await opened(one, 'view', '89 days 23 hours');

  await deleteOldVisits({ db });

  assert.deepEqual(await one.openings(), ['view']);
});

test('an answer that was held stays so without the openings that held it', async () => {
  const one = await contact();
  const { org_id, survey_id, contact_id } = one;
  await opened(one, 'trap', '100 days');
  const held = { contact_id, source: 'link', held_reason: 'hidden_link' };
  const id = await makeResponse(db, { org_id, survey_id }, held);

  await deleteOldVisits({ db });

  const [answer] = await db`select held_reason from responses where id = ${id}`;
  assert.deepEqual([answer?.['held_reason'], await one.openings()], ['hidden_link', []]);
});

test('more than one step is forgotten in one go', async () => {
  const one = await contact();
  const { org_id, survey_id, contact_id } = one;
  await db`
    insert into link_visits (org_id, survey_id, contact_id, kind, method, visited_at)
    select ${org_id}, ${survey_id}, ${contact_id}, 'view', 'GET', now() - interval '1 year'
    from generate_series(1, 10001)`;

  await deleteOldVisits({ db });

  assert.deepEqual(await one.openings(), []);
});

test('it happens every night by itself', async (t) => {
  const one = await contact();
  await opened(one, 'view', '100 days');
  assert.ok(crontab.some(({ task }) => task === 'responses.forget_openings'));
  const jobs = await workOn(t, { db, url, tasks: tasks(taskTools(db)), crontab });

  await enqueue(db, [{ task: 'responses.forget_openings', payload: {} }]);
  jobs.pump();

  await until('the opening is forgotten', async () => (await one.openings()).length === 0);
});
