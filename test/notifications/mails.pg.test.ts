import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { commandWriter } from '../../src/audit/acts.ts';
import type { JobPayloads } from '../../src/jobs.ts';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { findChoices, subscribeOwner } from '../../src/notifications/choices.ts';
import { mailNotification } from '../../src/notifications/mail.ts';
import { notifyAssigned, sweepNotifications } from '../../src/notifications/sweep.ts';
import { followUp } from '../../src/responses/follow-up.ts';
import { offManually } from '../../src/webhooks/rules.ts';
import { losingCommits } from '../support/fakes/lost-commit.ts';
import { accepted, busy, lost, rejected, unanswered } from '../support/make/mail-outcomes.ts';
import {
  makeContact,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { joinOrganization, makeMember, slugOfOrganization } from '../support/make/session.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';
import { keptLog } from '../support/probe/log.ts';

const { db } = await testDatabase();
const secrets = createSecrets([Buffer.alloc(32, 1)]);
const tools = { ...taskTools(db), secrets };

type Wish = { events?: string[]; digest?: string; changed_at?: Date };

async function scene(wish: Wish = {}) {
  const org_id = await makeOrganization(db, { monthly_send_limit: 100 });
  const survey_id = await makeSurvey(db, org_id);
  const member_id = await makeMember(db);
  await joinOrganization(db, { org: org_id, member: member_id, role: 'viewer' });
  await db`insert into notification_choices ${db({ org_id, member_id, ...wish })}`;
  const [member] = await db<{ email: string }[]>`select email from members where id = ${member_id}`;
  const bad = (over: object = {}) =>
    makeResponse(db, { org_id, survey_id }, { score: 2, category: 'detractor', ...over });
  return { org_id, survey_id, member_id, email: member!.email, bad };
}

/** Sweeps and runs the mail jobs. */
async function run() {
  await sweepNotifications(tools);
  await runMailJobs();
}

async function runMailJobs() {
  for (const { payload } of await takeMailJobs()) await mailNotification(tools, payload);
}

type TakenJob = { payload: JobPayloads['notifications.mail']; wait_seconds: number };

const takeMailJobs = async (orgId: string | null = null) => [
  ...(await db<TakenJob[]>`
    delete from test.jobs
    where task = 'notifications.mail' and (${orgId}::text is null or payload ->> 'org_id' = ${orgId})
    returning payload, greatest(round(extract(epoch from run_at - now()))::int, 0) as wait_seconds`),
];

async function mailsTo(email: string) {
  const rows = await db<{ raw: Buffer }[]>`
    select raw from mailbox_messages where rcpt_to = ${email} order by received_at`;
  return await Promise.all(rows.map(({ raw }) => PostalMime.parse(raw)));
}

const subjectsTo = async (email: string) =>
  (await mailsTo(email)).map(({ subject }) => subject ?? '').sort();

test("member is mailed about a detractor once, without people's names", async () => {
  const { org_id, survey_id, email, bad } = await scene({ events: ['detractor'] });
  const contact_id = await makeContact(
    db,
    { org_id, survey_id },
    { email: 'zoe@people.test', name: 'Zoe Quill' },
  );
  const id = await bad({
    contact_id,
    comment: 'Zoe Quill here, zoe@people.test: far too slow <b>',
  });
  await run();
  await run();
  const mails = await mailsTo(email);
  assert.equal(mails.length, 1);
  const { subject, text = '', html = '' } = mails[0]!;
  assert.equal(subject, 'A detractor responded: Onboarding');
  assert.match(text, /2 of 10/);
  assert.match(text, /far too slow/);
  assert.doesNotMatch(`${text} ${html}`, /zoe/i);
  assert.doesNotMatch(html, /<b>/);
  const url = `https://askback.test/o/${await slugOfOrganization(db, org_id)}/responses/${id}`;
  assert.ok(text.includes(url) && html.includes(url));
});

test('notification quotes the text answers of a response', async () => {
  const { org_id, email, bad } = await scene({ events: ['detractor'] });
  const id = await bad();
  const answers = { q_more: { text: 'Call me at zoe@people.test' } };
  await db`update surveys set questions = '[{"id": "q_more"}]' where org_id = ${org_id}`;
  await db`
    insert into response_answers (org_id, response_id, answers)
    values (${org_id}, ${id}, ${db.json(answers)})`;
  await run();
  const [{ text } = { text: '' }] = await mailsTo(email);
  assert.match(text ?? '', /“Call me at \[email\]”/);
});

test('member who leaves or changes choices gets no mail', async () => {
  const gone = await scene({ events: ['detractor'] });
  const changed = await scene({ events: ['detractor'] });
  await gone.bad();
  await changed.bad();
  await sweepNotifications(tools);
  await db`delete from memberships where org_id = ${gone.org_id}`;
  await db`update notification_choices set events = '{held}' where org_id = ${changed.org_id}`;
  await runMailJobs();
  assert.deepEqual([...(await mailsTo(gone.email)), ...(await mailsTo(changed.email))], []);
});

test('member gets at most thirty mails of answers per hour', async () => {
  const { email, bad } = await scene({ events: ['detractor'] });
  for (let answers = 0; answers < 33; answers++) await bad();
  await run();
  await run();
  assert.equal((await mailsTo(email)).length, 30);
});

test('member is mailed when failures turn a webhook off', async () => {
  const { org_id, email } = await scene({ events: ['webhook_off'] });
  const off = { active: false, deactivated_at: new Date() };
  await makeWebhook(db, org_id, {
    ...off,
    url: 'https://hooks.test/secret-path',
    deactivated_reason: 'status 503',
  });
  await makeWebhook(db, org_id, { ...off, deactivated_reason: offManually });
  await run();
  await run();
  const mails = await mailsTo(email);
  assert.equal(mails.length, 1);
  assert.match(mails[0]!.text ?? '', /https:\/\/hooks\.test was turned off/);
  assert.match(mails[0]!.text ?? '', /status 503/);
  assert.doesNotMatch(mails[0]!.text ?? '', /secret-path/);
});

test('member is not mailed about a webhook that a person then turned off', async () => {
  const { org_id, email } = await scene({ events: ['webhook_off'] });
  const off = { active: false, deactivated_at: new Date() };
  const id = await makeWebhook(db, org_id, { ...off, deactivated_reason: 'status 503' });
  await sweepNotifications(tools);
  await db`update webhooks set deactivated_reason = ${offManually} where id = ${id}`;
  await runMailJobs();
  assert.deepEqual(await mailsTo(email), []);
});

test('member is mailed once at 80% and once at 100% of the month’s mails', async () => {
  const { org_id, email } = await scene({ events: ['limit_near', 'limit_reached'] });
  const month = db`date_trunc('month', now() at time zone 'UTC')::date`;
  await db`insert into mail_usage (org_id, month, used) values (${org_id}, ${month}, 79)`;
  await run();
  assert.deepEqual(await subjectsTo(email), []);
  for (const used of [80, 99, 100, 90, 100]) {
    await db`update mail_usage set used = ${used} where org_id = ${org_id}`;
    await run();
  }
  assert.deepEqual(await subjectsTo(email), [
    'Acme has used 80% of this month’s emails',
    'Acme has used all of this month’s emails',
  ]);
});

test('member is mailed when a campaign finishes', async () => {
  const { org_id, survey_id, email } = await scene({ events: ['campaign_finished'] });
  const ended = { org_id, survey_id, total: 3, finished_at: new Date() };
  const [campaign] = await db<{ id: string }[]>`
    insert into campaigns ${db({ ...ended, name: 'May', status: 'finished' })} returning id`;
  await db`insert into campaigns ${db({ ...ended, name: 'June', status: 'stopped' })}`;
  await run();
  const mails = await mailsTo(email);
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    ['Campaign finished: May'],
  );
  assert.ok(mails[0]!.text?.includes(`/surveys/${survey_id}/send/${campaign!.id}`));
});

test('member is mailed once per outage that pauses campaigns', async () => {
  const { org_id, survey_id, email } = await scene({ events: ['campaign_paused'] });
  const pause = async (name: string, reason: string | null = '554 blocked') => {
    const row = { org_id, survey_id, name, reason, status: 'paused' };
    const [campaign] = await db<{ id: string }[]>`insert into campaigns ${db(row)} returning id`;
    await run();
    return campaign!.id;
  };
  await pause('By hand', null);
  const may = await pause('May');
  await pause('June');
  assert.deepEqual(await subjectsTo(email), ['Campaign paused: May']);
  const [mail] = await mailsTo(email);
  assert.match(mail!.text ?? '', /554 blocked/);
  assert.ok(mail!.text?.includes(`/surveys/${survey_id}/send/${may}`));
  await db`update campaigns set status = 'running', turn = turn + 1 where org_id = ${org_id}`;
  await pause('July');
  assert.deepEqual(await subjectsTo(email), ['Campaign paused: July', 'Campaign paused: May']);
});

test('new owners are notified of paused campaigns, the first of detractors', async () => {
  const org_id = await makeOrganization(db);
  const choices = [];
  for (let owners = 0; owners < 2; owners++) {
    const member_id = await makeMember(db);
    await joinOrganization(db, { org: org_id, member: member_id, role: 'owner' });
    await subscribeOwner(db, { orgId: org_id, memberId: member_id });
    choices.push((await findChoices(db, { orgId: org_id, memberId: member_id }))?.events);
  }
  assert.deepEqual(choices, [['detractor', 'campaign_paused'], ['campaign_paused']]);
});

test('owner of a response is mailed once when it is assigned', async () => {
  const { org_id, member_id, email, bad } = await scene({ events: ['assigned'] });
  const id = await bad();
  const own = await bad();
  const actor = { kind: 'member', id: member_id, name: 'Ann' } as const;
  await followUp(tools, { ...commandWriter(org_id), actor }, { id: own, owner: email });
  for (const owner of [email, null, email]) {
    await followUp(tools, commandWriter(org_id), { id, owner });
  }
  const jobs = await db<{ payload: { org_id: string; member_id: string; response_id: string } }[]>`
    delete from test.jobs where task = 'notifications.assigned' returning payload`;
  for (const { payload } of jobs) await notifyAssigned(tools, payload);
  await runMailJobs();
  assert.deepEqual(await subjectsTo(email), ['A response was assigned to you: Onboarding']);
  assert.ok((await mailsTo(email))[0]!.text?.includes(id));
});

/** Number of sends until no job is left, at most two, and if a failure is logged. */
const ends = [
  { what: 'taken', outcome: accepted(), sends: 1, isSaid: false },
  { what: 'lost before the server had it', outcome: lost(), sends: 2, isSaid: false },
  { what: 'refused for now', outcome: busy(), sends: 2, isSaid: false },
  { what: 'refused for good', outcome: rejected('554 no'), sends: 1, isSaid: true },
  {
    what: 'refused with the login',
    outcome: rejected('535 no', { about: 'server' }),
    sends: 2,
    isSaid: false,
  },
  { what: 'unanswered', outcome: unanswered('cut'), sends: 1, isSaid: true },
];
for (const { what, outcome, sends, isSaid } of ends) {
  test(`notification that is ${what} is sent ${sends === 1 ? 'once' : 'again'}`, async () => {
    const { org_id, bad } = await scene({ events: ['detractor'] });
    await bad();
    await sweepNotifications(tools);
    let sent = 0;
    const send = async () => {
      sent += 1;
      return outcome;
    };
    const { lines, log } = keptLog();
    const failing = { ...tools, log, appMailer: { send } };
    const seconds: number[] = [];
    for (let times = 0; times < 2; times++) {
      const jobs = await takeMailJobs(org_id);
      for (const { payload, wait_seconds } of jobs) {
        seconds.push(wait_seconds);
        await mailNotification(failing, payload);
      }
    }
    const line = ['warn', 'notification email was not sent', { org_id, outcome: outcome.kind }];
    assert.deepEqual([sent, lines], [sends, isSaid ? [line] : []]);
    assert.deepEqual(seconds, sends === 1 ? [0] : [0, 1]);
  });
}

test('notification is sent once when the commit reply of its retry is lost', async () => {
  const { org_id, email, bad } = await scene({ events: ['detractor'] });
  await bad();
  await sweepNotifications(tools);
  const [job] = await takeMailJobs(org_id);
  const refusing = {
    ...tools,
    db: losingCommits(db, runMailJobs),
    appMailer: { send: async () => busy() },
  };
  await assert.rejects(mailNotification(refusing, job!.payload), { code: 'CONNECTION_CLOSED' });
  await mailNotification(tools, job!.payload);
  assert.equal((await mailsTo(email)).length, 1);
});

test('notification is given up and logged after a day of refusals', async () => {
  const { org_id, bad } = await scene({ events: ['detractor'] });
  await bad();
  await sweepNotifications(tools);
  await db`
    update notifications set created_at = now() - interval '23 hours 58 minutes' where org_id = ${org_id}`;
  const { lines, log } = keptLog();
  const failing = { ...tools, log, appMailer: { send: async () => busy() } };
  for (const { payload } of await takeMailJobs(org_id)) await mailNotification(failing, payload);
  assert.deepEqual(lines, [
    ['warn', 'notification email was not sent', { org_id, outcome: 'refused' }],
  ]);
  assert.deepEqual(await takeMailJobs(org_id), []);
});
