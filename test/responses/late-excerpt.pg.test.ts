import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../src/errors.ts';
import type { JobPayloads } from '../../src/jobs.ts';
import { redactedExcerpt } from '../../src/lib/redact/redact.ts';
import { publishDetractor } from '../../src/responses/events.ts';
import { releaseResponse } from '../../src/responses/release.ts';
import { writeKeyOf } from '../support/make/rows.ts';
import { ask, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

type Payload = JobPayloads['responses.publish_detractor'];

const notRead = () => Promise.reject(new Refusal('unavailable', 'not read'));
const comment = 'Click here, they said, and nothing happened.';

const mailJobs = async (org: string) => {
  const jobs = await db<{ payload: Payload }[]>`
    select payload from test.jobs
    where task = 'responses.publish_detractor' and payload ->> 'org_id' = ${org}`;
  return jobs.map(({ payload }) => payload);
};

const excerptsOf = async (org: string) => {
  const deliveries = await db<{ body: string }[]>`
    select body from deliveries where org_id = ${org} and event = 'detractor.detected'`;
  return deliveries.map(({ body }) => JSON.parse(body).comment);
};

/** An answer whose comment was not redacted in time, and its job. */
async function answeredLate() {
  const asked = await ask(db);
  const page = await visitor(db, { excerpt: notRead }).post(asked.personal, {
    score: '2',
    comment,
  });
  assert.ok(page.status < 400, String(page.status));
  const [job] = await mailJobs(asked.organization);
  return { ...asked, job: job! };
}

const publish = (job: Payload, excerpt = redactedExcerpt) =>
  publishDetractor({ db, excerpt }, job, null);

test('an answer is recorded without its event when redaction is down', async () => {
  const { answers, events, job, organization } = await answeredLate();
  const [answer] = await answers();
  assert.equal(answer?.comment, comment);
  assert.deepEqual(job, { org_id: organization, response_id: answer.id });
  assert.deepEqual(await events(), ['response.received', 'survey.completed']);
});

test('the job publishes the detractor once, with its excerpt', async () => {
  const { job, organization } = await answeredLate();
  await publish(job);
  await publish(job);
  assert.deepEqual(await excerptsOf(organization), [comment]);
});

test('the job is retried while redaction is down', async () => {
  const { job, organization } = await answeredLate();
  await assert.rejects(publish(job, notRead), { kind: 'unavailable' });
  assert.deepEqual(await excerptsOf(organization), []);
});

test('the job publishes no comment erased during redaction', async () => {
  const { job, organization } = await answeredLate();
  await publish(job, async (text, known) => {
    await db`update responses set comment = null where id = ${job.response_id}`;
    return await redactedExcerpt(text, known);
  });
  assert.deepEqual(await excerptsOf(organization), [null]);
});

test('a response is released without its event when redaction is down', async () => {
  const { organization, answers, personal, events } = await ask(db);
  await visitor(db).post(personal, { score: '2' });
  const [{ id } = { id: '' }] = await answers();
  await db`update responses set comment = ${comment}, held_reason = 'scanner' where id = ${id}`;
  const before = await events();
  await releaseResponse({ db, excerpt: notRead }, writeKeyOf(organization), id);
  assert.deepEqual(await mailJobs(organization), [{ org_id: organization, response_id: id }]);
  assert.deepEqual(await events(), [...before, 'response.received'].sort());
});
