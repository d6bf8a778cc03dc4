import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { commandWriter } from '../../src/audit/acts.ts';
import type { JobPayloads } from '../../src/jobs.ts';
import { createLog } from '../../src/lib/log/log.ts';
import type { MailOutcome } from '../../src/lib/smtp/connection.ts';
import { createMailer } from '../../src/sends/mail-job.ts';
import { createSendProgress } from '../../src/sends/send.ts';
import { sendTestMail, sendTestToMember } from '../../src/sends/test-mail.ts';
import { accepted, rejected } from '../support/make/mail-outcomes.ts';
import { makeClient, makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { until } from '../support/probe/until.ts';

const { db } = await testDatabase();
const app = testApp(db);
const log = createLog({ level: 'silent' });
const texts = { de: { question_text: 'Zufrieden, {{properties.plan|Sie}}?' } };

async function scene(over: Record<string, unknown> = {}) {
  const client = await makeClient(db);
  const share_id = crypto.randomUUID();
  const survey = await makeSurvey(db, client.id, {
    ...{ share_id, question_text: 'Happy, {{first_name|you}}?', texts: db.json(texts) },
    ...over,
  });
  const ask = async (body: object, of = survey) => {
    const answer = await app.request(`/api/v1/surveys/${of}/test-mail`, {
      method: 'POST',
      headers: { ...client.write, 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'tester@people.test', ...body }),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  return { org: client.id, survey, ask, link: `/s/test.${share_id}`, share_id };
}

/** Runs the test jobs of an organization and returns their mails. */
async function sentTests(org: string) {
  const messages: Buffer[] = [];
  const transport = {
    send: async (_: object, message: Buffer) => {
      messages.push(message);
      return { kind: 'accepted', response: '250' } as const;
    },
  };
  const publicUrl = 'https://askback.test';
  const settings = { concurrency: 1, dkim: null, bounceDomain: null };
  const mailer = createMailer({ transport, publicUrl, ...settings });
  const jobs = await db<{ payload: JobPayloads['sends.test'] }[]>`
    select payload from test.jobs where task = 'sends.test' and payload ->> 'org_id' = ${org} order by id`;
  const progress = { report: async () => {} };
  for (const { payload } of jobs) await sendTestMail({ db, log, progress, mailer }, payload);
  return await Promise.all(messages.map((message) => PostalMime.parse(message)));
}

test('test mail has [Test] in its subject and counts nowhere', async () => {
  const { org, ask, link } = await scene({ status: 'draft' });
  assert.deepEqual(await ask({}).then(({ status, body }) => [status, body]), [
    202,
    { data: { email: 'tester@people.test', language: 'en' } },
  ]);
  const [mail] = await sentTests(org);
  assert.equal(mail?.subject, '[Test] Happy, Robin?');
  assert.equal(mail?.to?.[0]?.address, 'tester@people.test');
  assert.ok(mail?.html?.includes(`https://askback.test${link}?score=9`));
  assert.equal((await db`select from mails where org_id = ${org}`).length, 0);
  assert.equal((await db`select from contacts where org_id = ${org}`).length, 0);
  assert.deepEqual([...(await db`select from mail_usage where org_id = ${org} and used > 0`)], []);
});

test("test mail uses the contact's name, properties and language", async () => {
  const { org, survey, ask } = await scene();
  const add = (properties: object) =>
    makeContact(
      db,
      { org_id: org, survey_id: survey },
      { properties: db.json(properties as never) },
    );
  await ask({ contact_id: await add({ language: 'de', Plan: 'Pro' }) });
  await ask({ contact_id: await add({ language: 'de' }), language: 'en' });
  const subjects = (await sentTests(org)).map(({ subject }) => subject);
  assert.equal(subjects[0], '[Test] Zufrieden, Pro?');
  assert.match(subjects[1]!, /^\[Test\] Happy, /);
});

test('test mail refuses unknown contacts, surveys and languages', async () => {
  const [{ org, ask }, other] = [await scene(), await scene()];
  const contact = await makeContact(db, { org_id: other.org, survey_id: other.survey });
  assert.equal((await ask({ contact_id: contact })).status, 404);
  assert.equal((await ask({}, other.survey)).status, 404);
  assert.equal((await ask({ language: 'fr' })).status, 400);
  assert.equal((await ask({ email: 'nobody' })).status, 400);
  assert.deepEqual(await sentTests(org), []);
});

test('organization can send 20 test mails per hour', async () => {
  const { org, ask } = await scene();
  const answers = await Promise.all(Array.from({ length: 21 }, () => ask({})));
  const refused = answers.filter(({ status }) => status !== 202);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, (body as { code: string }).code]),
    [[429, 'too_many_test_mails']],
  );
  assert.ok(Number(refused[0]!.headers.get('Retry-After')) > 3500);
  await db`update audit_events set at = at - interval '61 minutes' where org_id = ${org}`;
  assert.equal((await ask({})).status, 202);
});

const outcomes: [MailOutcome, RegExp][] = [
  [accepted(), /^Test email sent to tester@people\.test\./],
  [rejected('554 no thanks'), /^The test email was not sent: 554 no thanks/],
];
for (const [outcome, text] of outcomes) {
  test(`member sees that a test mail was ${outcome.kind}`, async () => {
    const { org, survey } = await scene();
    const progress = await createSendProgress({ db, log });
    const mailer = { send: async () => outcome };
    const request = { surveyId: survey, email: 'tester@people.test' };
    const notice = sendTestToMember({ db, progress }, commandWriter(org), request);
    const jobs = () => db<{ payload: JobPayloads['sends.test'] }[]>`
      select payload from test.jobs where task = 'sends.test' and payload ->> 'org_id' = ${org}`;
    await until('the job of the test', async () => (await jobs()).length === 1);
    await sendTestMail({ db, log, progress, mailer }, (await jobs())[0]!.payload);
    assert.match((await notice).text, text);
    await progress.stop();
  });
}

test('links of a test mail record nothing', async () => {
  const { org, link, share_id } = await scene({ status: 'draft' });
  const open = await app.request(`${link}?score=9`);
  assert.match(await open.text(), /Happy, you\?/);
  const post = (body: string, path = link) =>
    app.request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body,
    });
  const thanks = await post('score=9&comment=fine');
  assert.deepEqual([thanks.status, /fine/.test(await thanks.text())], [200, true]);
  assert.equal((await post('score=11')).status, 400);
  assert.equal((await post(`score=9&comment=${'x'.repeat(4500)}`)).status, 200);
  const unsubscribe = `/u/test.${share_id}`;
  assert.equal((await app.request(unsubscribe)).status, 200);
  assert.equal((await post('List-Unsubscribe=One-Click', unsubscribe)).status, 200);
  for (const table of ['responses', 'link_visits', 'suppressions']) {
    assert.equal((await db`select from ${db(table)} where org_id = ${org}`).length, 0, table);
  }
  assert.equal((await app.request('/s/test.unknown')).status, 404);
});

test('member gets a test of the first recipient or the unsaved form', async () => {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org, { question_text: 'Happy, {{first_name}}?' });
  const row = { name: 'Ada Lovelace', email: 'ada@people.test' };
  const contact_id = await makeContact(db, { org_id: org, survey_id: survey }, row);
  const browser = await memberBrowser(db, { org, role: 'editor' });
  const here = `${browser.home}/surveys/${survey}`;
  const review = await (await browser.get(`${here}/send`)).text();
  assert.match(review, /<bdi>Happy, Ada\?<\/bdi>/);
  assert.match(review, new RegExp(`<iframe src="${here}/mail/${contact_id}"`));
  const mail = await browser.get(`${here}/mail/${contact_id}`);
  assert.match(await mail.text(), /Hello Ada Lovelace,/);
  assert.match(mail.headers.get('Content-Security-Policy')!, /frame-ancestors 'self'.*sandbox/);
  const sent = await browser.submit(`${here}/test-mail`, { contact_id });
  assert.match(await sent.text(), /Test email on its way to /);

  const typed = { name: 'Spring', question_text: 'Typed?', from_name: 'Ann', language: 'en' };
  const form = { ...typed, from_email: 'ann@acme.test', act: 'test-mail' };
  const shown = await browser.post(`${here}/edit`, form);
  assert.equal(shown.status, 200);
  assert.match(await shown.text(), /Test email on its way to .*>Typed\?<\/textarea>/s);
  const wrong = await browser.post(`${here}/edit`, { ...form, subject: '{{nmae}}' });
  assert.equal(wrong.status, 422);
  const [saved] = await db`select question_text from surveys where id = ${survey}`;
  assert.equal(saved!['question_text'], 'Happy, {{first_name}}?');
  const subjects = (await sentTests(org)).map(({ subject }) => subject);
  assert.deepEqual(subjects, ['[Test] Happy, Ada?', '[Test] Typed?']);
});
