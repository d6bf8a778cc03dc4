import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countDeliveryOutcomes,
  countFailedJobs,
  countMailOutcomes,
  countOrganizations,
  findOperated,
  listWaitingTasks,
  pageOfOrganizations,
} from '../../src/operations/operator/queries.ts';
import { addDeliveries, idAt } from '../support/make/delivery-rows.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

test("findOperated counts the organization's members, surveys and emails", async () => {
  const [org, other] = [await makeOrganization(db), await makeOrganization(db)];
  for (const role of ['owner', 'owner', 'editor', 'viewer', 'viewer'] as const) {
    await joinOrganization(db, { org, member: await makeMember(db), role });
  }
  await joinOrganization(db, { org: other, member: await makeMember(db), role: 'owner' });
  for (const of of [org, org, org, other]) await makeSurvey(db, of);
  const used = (org_id: string, months: number, mails: number) => db`
    insert into mail_usage (org_id, month, used)
    values (${org_id}, (date_trunc('month', now() at time zone 'UTC') - make_interval(months => ${months}))::date, ${mails})`;
  await used(org, 0, 7);
  await used(org, 1, 70);
  await used(other, 0, 700);
  const { members, owners, surveys, mails_this_month } = (await findOperated(db, org))!;
  assert.deepEqual(
    { members, owners, surveys, mails_this_month },
    { members: 5, owners: 2, surveys: 3, mails_this_month: 7 },
  );
  assert.equal((await findOperated(db, await makeOrganization(db)))?.mails_this_month, 0);
});

test('pageOfOrganizations lists newest first, then by id', async () => {
  await db`delete from organizations`;
  const [old, same] = [ago(100), ago(50)];
  const twins = [
    await makeOrganization(db, { created_at: same }),
    await makeOrganization(db, { created_at: same }),
  ].sort();
  const last = await makeOrganization(db, { created_at: old });
  const first = await makeOrganization(db);
  const page = async (page: number) =>
    (await pageOfOrganizations(db, { page, limit: 2 })).map(({ id }) => id);
  assert.deepEqual(await page(1), [first, twins[1]]);
  assert.deepEqual(await page(2), [twins[0], last]);
  assert.equal(await countOrganizations(db), 4);
});

test('listWaitingTasks lists due jobs and comments, oldest first', async () => {
  await db`delete from waiting_analyses`;
  const rows: { task: string; waits: number }[] = [
    { task: 'b.two', waits: 300 },
    { task: 'b.two', waits: 200 },
    { task: 'a.one', waits: 100 },
  ];
  for (const { task, waits } of rows) {
    await db`select graphile_worker.add_job(${task}, run_at => ${ago(waits)})`;
  }
  const same = ago(50);
  for (const task of ['e.two', 'e.one', 'e.three']) {
    await db`select graphile_worker.add_job(${task}, run_at => ${same})`;
  }
  const job = (name: string, secondsAgo: number) =>
    db`select graphile_worker.add_job(${name}, run_at => ${ago(secondsAgo)})`;
  await job('a.one', 400);
  await job('a.one', 250);
  await job('c.later', -60);
  const org_id = await makeOrganization(db);
  const of = { org_id, survey_id: await makeSurvey(db, org_id) };
  const comment = async (due: number, over: Record<string, unknown> = {}) => {
    const response_id = await makeResponse(db, of, { comment: 'Fine' });
    await db`delete from waiting_analyses where response_id = ${response_id}`;
    await db`insert into waiting_analyses ${db({ org_id, response_id, due_at: ago(due), ...over })}`;
  };
  await comment(350);
  await comment(150);
  await comment(-60);
  await comment(500, { claimed_by: 'lease-1' });
  const hook = { org_id, webhook_id: await makeWebhook(db, org_id) };
  const due = { ...hook, attempts: 1, created_at: ago(7200), next_attempt_at: ago(30) };
  await addDeliveries(
    db,
    due,
    { ...due, next_attempt_at: ago(-60) },
    {
      ...due,
      next_attempt_at: ago(900),
      claimed_by: 'lease-1',
    },
  );

  const shown = (await listWaitingTasks(db)).map(({ task, waiting, oldest_seconds }) => [
    task,
    waiting,
    Math.round(oldest_seconds / 50) * 50,
  ]);
  assert.deepEqual(shown, [
    ['a.one', 3, 400],
    ['summaries.analyze', 2, 350],
    ['b.two', 2, 300],
    ['e.one', 1, 50],
    ['e.three', 1, 50],
    ['e.two', 1, 50],
    ['webhooks.deliver', 1, 50],
  ]);
});

test("countDeliveryOutcomes counts the last hour's deliveries by status", async () => {
  const add = async (status: string, seconds: number, times: number) => {
    const org_id = await makeOrganization(db);
    const webhook_id = await makeWebhook(db, org_id);
    const one = { org_id, webhook_id, status, created_at: ago(seconds) };
    await addDeliveries(db, ...Array.from({ length: times }, () => one));
  };
  await add('failed', 3500, 2);
  await add('delivered', 3500, 2);
  await add('delivered', 10, 1);
  await add('pending', 10, 2);
  await add('failed', 3700, 5);
  assert.deepEqual(
    (await countDeliveryOutcomes(db)).map(({ status, count }) => [status, count]),
    [
      ['delivered', 3],
      ['failed', 2],
      ['pending', 2],
    ],
  );
});

test("countMailOutcomes counts the last hour's survey emails by status", async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id);
  const add = async (status: string, seconds: number) => {
    const contact_id = await makeContact(db, { org_id, survey_id });
    const id = idAt(ago(seconds));
    const mail = { id, org_id, survey_id, contact_id, request_id: id, status };
    const rest = { email: `${id}@people.test`, month: '2026-11-01' };
    await db`insert into mails ${db({ ...mail, ...rest, blocks_resend: status !== 'failed' })}`;
  };
  for (const seconds of [3500, 10, 3700]) await add('sent', seconds);
  await add('failed', 3500);
  assert.deepEqual(
    (await countMailOutcomes(db)).map(({ status, count, byFiveMinutes }) => [
      status,
      count,
      byFiveMinutes,
    ]),
    [
      ['sent', 2, { 0: 1, 11: 1 }],
      ['failed', 1, { 11: 1 }],
    ],
  );
});

test('countFailedJobs counts jobs without attempts left', async () => {
  const before = await countFailedJobs(db);
  await db`select graphile_worker.add_job('a.failed', max_attempts => 1)`;
  await db`select graphile_worker.add_job('a.waiting', max_attempts => 2)`;
  await db`
    update graphile_worker._private_jobs j
    set attempts = 1
    from graphile_worker._private_tasks t
    where t.id = j.task_id and t.identifier in ('a.failed', 'a.waiting')`;
  assert.equal((await countFailedJobs(db)) - before, 1);
});
