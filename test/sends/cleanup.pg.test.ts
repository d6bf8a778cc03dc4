import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { enqueue } from '../../src/jobs.ts';
import { claim } from '../../src/sends/claim.ts';
import { readContact } from '../../src/sends/rules.ts';
import { crontab, tasks } from '../../src/tasks.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { workOn } from '../support/probe/jobs.ts';
import { until } from '../support/probe/until.ts';

const { db, url } = await testDatabase();

/** An organization with an unsubscribed address. */
async function blocking() {
  const orgId = await makeOrganization(db);
  await db`insert into suppressions ${db({ org_id: orgId, email: 'ann@people.test', kind: 'unsubscribed' })}`;
  const send = async (surveyId: string) => {
    const submitted = [readContact({ email: 'Ann@people.test' })];
    const request = { requestId: randomUUID(), submitted, traceparent: null };
    await claim(db, { orgId, surveyId }, request);
  };
  const rows = async () => (await db`select from blocked_mails where org_id = ${orgId}`).length;
  return { orgId, send, rows };
}

test('blocked mail is recorded once a day', async () => {
  const { orgId, send, rows } = await blocking();
  const [survey, other] = [await makeSurvey(db, orgId), await makeSurvey(db, orgId)];
  await Promise.all([send(survey), send(survey), send(survey)]);
  assert.equal(await rows(), 1);
  await send(other);
  assert.equal(await rows(), 2);
  await db`update blocked_mails set blocked_on = blocked_on - 1 where org_id = ${orgId}`;
  await send(survey);
  assert.equal(await rows(), 3);
});

test('blocked mails are deleted after 90 days', async (t) => {
  const { orgId, send, rows } = await blocking();
  const [old, young] = [await makeSurvey(db, orgId), await makeSurvey(db, orgId)];
  await send(old);
  await send(young);
  await db`update blocked_mails set blocked_on = blocked_on - 91 where survey_id = ${old}`;
  await db`update blocked_mails set blocked_on = blocked_on - 90 where survey_id = ${young}`;
  assert.ok(crontab.some(({ task }) => task === 'sends.clean_up'));
  await workOn(t, { url, tasks: tasks(taskTools(db)) });
  await enqueue(db, [{ task: 'sends.clean_up', payload: {} }]);
  await until('the old one is gone', async () => (await rows()) < 2);
  const [left] = await db`select survey_id from blocked_mails where org_id = ${orgId}`;
  assert.equal(left?.['survey_id'], young);
});
