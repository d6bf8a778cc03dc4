import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import { createMailer } from '../../src/sends/mail-job.ts';
import { campaignRunner, makeContacts, type Says } from '../support/make/campaigns.ts';
import { accepted, rejected, unanswered } from '../support/make/mail-outcomes.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const dayMs = 24 * 60 * 60 * 1000;

type Options = { says?: Says; organization?: object; survey?: object; people?: number };

async function scene({ says, organization = {}, survey = {}, people = 3 }: Options = {}) {
  const orgId = await makeOrganization(db, organization as Record<string, unknown>);
  const surveyId = await makeSurvey(db, orgId, survey as Record<string, unknown>);
  const contacts = await makeContacts(db, { orgId, surveyId }, { count: people });
  const runner = campaignRunner(db, orgId, says ? { says } : {});
  const sweep = async () => {
    await sweepCampaigns(runner.tools);
    await runner.work();
  };
  return {
    orgId,
    surveyId,
    contacts,
    ...runner,
    sweep,
    /** Mails all contacts now. */
    mailAll: async () => {
      await db`
        insert into mails (org_id, survey_id, contact_id, email, request_id, month, status, claimed_at, finished_at)
        select org_id, survey_id, id, email, gen_random_uuid(), '2027-01-01', 'sent', ${runner.clock.at}, ${runner.clock.at}
        from contacts where survey_id = ${surveyId}`;
      await db`update contacts set status = 'sent', sent_at = ${runner.clock.at} where survey_id = ${surveyId}`;
    },
    /** Advances the clock, with a run every hour. */
    pass: async (days: number) => {
      for (let hour = 0; hour < days * 24; hour += 6) {
        runner.later(dayMs / 4);
        await sweep();
      }
    },
    used: async () =>
      (await db<{ used: number }[]>`select used from mail_usage where org_id = ${orgId}`).reduce(
        (sum, { used }) => sum + used,
        0,
      ),
    reasons: async () => [
      ...(await db<{ reason_code: string; count: number }[]>`
        select reason_code, count(*)::int as count from campaign_contacts
        where org_id = ${orgId} and reason_code is not null group by 1`),
    ],
  };
}

const twoReminders = {
  reminders: db.json([{ after_days: 3 }, { after_days: 7, subject: 'Last call' }]),
};

test('reminders are sent once to contacts without an answer', async () => {
  const { sweep, mailAll, pass, mailed, used } = await scene({ survey: twoReminders });
  await sweep();
  await mailAll();
  await pass(2.5);
  assert.equal(mailed.length, 0);
  await pass(0.5);
  assert.deepEqual(
    mailed.map(({ reminder }) => reminder),
    [1, 1, 1],
  );
  await pass(10);
  assert.deepEqual(
    mailed.map(({ reminder }) => reminder),
    [1, 1, 1, 2, 2, 2],
  );
  assert.equal(await used(), 6);
});

for (const hours of [0, 10, 40]) {
  test(`reminder days count from sending, ${hours} h after the claim`, async () => {
    const { surveyId, sweep, mailAll, pass, mailed } = await scene({ survey: twoReminders });
    await sweep();
    await mailAll();
    await db`
      update mails set finished_at = claimed_at + make_interval(hours => ${hours})
      where survey_id = ${surveyId}`;
    const stepDays = 0.25;
    const dueSteps = Math.ceil((3 * 24 + hours) / 6);
    await pass((dueSteps - 1) * stepDays);
    assert.equal(mailed.length, 0);
    await pass(stepDays);
    assert.deepEqual(
      mailed.map(({ reminder }) => reminder),
      [1, 1, 1],
    );
  });
}

test('an unsubscribe takes precedence over a bounce as skip reason', async () => {
  const { orgId, contacts, tools, sweep, mailAll, later, work, mailed, reasons } = await scene({
    survey: { reminders: db.json([{ after_days: 1 }]) },
    people: 1,
  });
  await sweep();
  await mailAll();
  later(dayMs);
  await sweepCampaigns(tools);
  for (const kind of ['unsubscribed', 'bounced']) {
    await db`insert into suppressions ${db({ org_id: orgId, email: contacts[0]!.email, kind })}`;
  }
  await work();
  assert.deepEqual(
    [mailed.length, await reasons()],
    [0, [{ reason_code: 'unsubscribed', count: 1 }]],
  );
});

for (const [what, meanwhile] of [
  [
    'answered',
    (id: string) =>
      db`update contacts set status = 'responded', responded_at = now() where id = ${id}`,
  ],
  ['lost its first mail', (id: string) => db`delete from mails where contact_id = ${id}`],
] as const) {
  test(`skips a reminder to a contact that meanwhile ${what}`, async () => {
    const { contacts, tools, sweep, mailAll, later, work, mailed, reasons, used } = await scene({
      survey: { reminders: db.json([{ after_days: 1 }]) },
      people: 2,
    });
    await sweep();
    await mailAll();
    later(dayMs);
    await sweepCampaigns(tools);
    await meanwhile(contacts[0]!.id);
    await work();
    assert.deepEqual(
      mailed.map(({ email }) => email),
      [contacts[1]!.email],
    );
    assert.deepEqual(
      [await reasons(), await used()],
      [[{ reason_code: 'already_sent', count: 1 }], 1],
    );
  });
}

test('enrolling more contacts leaves one live job', async () => {
  const { orgId, contacts, clock, tools, later } = await scene({
    survey: { ask_after_days: 1, ask_after_days_since: new Date(0) },
    people: 2,
  });
  clock.at = new Date('2027-01-10T12:00:00Z'); // on the last day of a month, the second would wait
  for (const [place, days] of [1, 0].entries()) {
    const at = new Date(clock.at.getTime() - days * dayMs);
    await db`update contacts set created_at = ${at} where id = ${contacts[place]!.id}`;
  }
  for (const waiting of [1, 2]) {
    await sweepCampaigns(tools);
    const turns = await db<{ waiting: number }[]>`
      select c.waiting
      from test.jobs o
      join campaigns c on c.id::text = o.payload ->> 'campaign_id' and c.turn = (o.payload ->> 'turn')::int
      where c.org_id = ${orgId}`;
    assert.deepEqual([...turns], [{ waiting }]);
    later(dayMs);
  }
});

test('no reminder is sent after an answer, unsubscribe, bounce or failure', async () => {
  const { orgId, surveyId, contacts, sweep, mailAll, pass, mailed } = await scene({
    survey: twoReminders,
    people: 5,
  });
  await sweep();
  await mailAll();
  const [one, two, three, four, five] = contacts;
  await db`update contacts set responded_at = now(), status = 'responded' where id = ${one!.id}`;
  await db`insert into suppressions (org_id, email, kind) values (${orgId}, ${two!.email}, 'unsubscribed')`;
  await db`insert into suppressions (org_id, email, kind) values (${orgId}, ${three!.email}, 'bounced')`;
  await db`update mails set status = 'failed', blocks_resend = false where contact_id = ${four!.id}`;
  await pass(4);
  assert.deepEqual(
    mailed.map(({ email }) => email),
    [five!.email],
  );
  await db`update surveys set status = 'completed', completed_by = 'hand', completed_at = now() where id = ${surveyId}`;
  await pass(6);
  assert.equal(mailed.length, 1);
});

test('reminders do not count for the frequency rule', async () => {
  const says: Says = ({ email }) =>
    email.startsWith('p1-')
      ? rejected('554 no')
      : email.startsWith('p2-')
        ? unanswered('cut')
        : accepted();
  const { surveyId, sweep, mailAll, pass, used } = await scene({ says, survey: twoReminders });
  await sweep();
  await mailAll();
  await pass(3);
  const statuses =
    await db`select distinct status, failure_reason from contacts where survey_id = ${surveyId}`;
  assert.deepEqual([...statuses], [{ status: 'sent', failure_reason: null }]);
  assert.equal(await used(), 2);
});

test('reminders beyond the monthly limit are skipped', async () => {
  const { contacts, sweep, mailAll, later, pass, mailed, reasons, used } = await scene({
    survey: { reminders: db.json([{ after_days: 1 }]) },
    organization: { monthly_send_limit: 2 },
  });
  await sweep();
  await mailAll();
  const [last, first, second] = contacts;
  for (const [minutes, contact] of [first, second, last].entries()) {
    await db`
      update mails set finished_at = finished_at + make_interval(mins => ${minutes})
      where contact_id = ${contact!.id}`;
  }
  later(2 * 60_000); // so that all are due in the same step, and in the same month
  await pass(5);
  assert.deepEqual(
    new Set(mailed.map(({ email }) => email)),
    new Set([first!.email, second!.email]),
    'those that wait longest',
  );
  assert.deepEqual([await reasons(), await used()], [[{ reason_code: 'send_limit', count: 1 }], 2]);
});

test('a new reminder skips contacts who were due before', async () => {
  const { mailAll, later, pass, sweep, mailed } = await scene({ survey: twoReminders });
  await mailAll();
  later(4 * dayMs);
  await sweep();
  await pass(6);
  assert.deepEqual(
    mailed.map(({ reminder }) => reminder),
    [2, 2, 2],
  );
});

test('a reminder in flight during a crash is not sent again', async () => {
  const { surveyId, sweep, mailAll, later, work, pass, mailed } = await scene({
    survey: { reminders: db.json([{ after_days: 1 }]) },
    people: 1,
  });
  await sweep();
  await mailAll();
  later(dayMs);
  await pass(0.25);
  assert.equal(mailed.length, 1);
  await db`update mails set status = 'claimed', finished_at = null where survey_id = ${surveyId} and reminder = 1`;
  await db`update mails set status = 'sending', sending_at = now() where survey_id = ${surveyId} and reminder = 1`;
  await db`update mails set status = 'unknown', finished_at = now() where survey_id = ${surveyId} and reminder = 1`;
  await work();
  await pass(3);
  assert.equal(mailed.length, 1);
});

test('a reminder replies to the first mail with its own id', async () => {
  const { sweep, mailAll, pass, mailed, orgId } = await scene({ survey: twoReminders, people: 1 });
  await sweep();
  await mailAll();
  await pass(7);
  const [first] = await db<
    { id: string }[]
  >`select id from mails where org_id = ${orgId} and reminder = 0`;
  const raw: Buffer[] = [];
  const mailer = createMailer({
    transport: {
      send: async (_, message) => {
        raw.push(message);
        return accepted();
      },
    },
    concurrency: 1,
    publicUrl: 'https://ask.example',
    dkim: null,
    bounceDomain: null,
  });
  for (const mail of mailed)
    await mailer.send(mail, { mayLeave: async () => true, signal: new AbortController().signal });
  const [one, two] = await Promise.all(raw.map((each) => PostalMime.parse(each)));
  const thread = `<${first!.id}@ask.example>`;
  for (const mail of [one, two]) {
    assert.equal(mail?.inReplyTo, thread);
    assert.equal(mail?.references, thread);
  }
  assert.equal(new Set([one?.messageId, two?.messageId, thread]).size, 3);
  assert.equal(one?.subject, 'How likely are you to recommend us?');
  assert.equal(two?.subject, 'Last call');
});

test('automatic sends go out days after a contact was added', async () => {
  const { orgId, contacts, clock, sweep, pass, mailed } = await scene({
    survey: { ask_after_days: 2, ask_after_days_since: new Date() },
  });
  const start = clock.at;
  await db`update contacts set created_at = ${new Date(start.getTime() - 30 * dayMs)} where id = ${contacts[0]!.id}`;
  await db`update contacts set created_at = ${new Date(start.getTime() + dayMs)} where id = ${contacts[1]!.id}`;
  await db`update contacts set created_at = ${start} where id = ${contacts[2]!.id}`;
  await sweep();
  await pass(1.75);
  assert.equal(mailed.length, 0);
  await pass(0.25);
  assert.deepEqual(
    mailed.map(({ email }) => email).sort(),
    [contacts[0]!.email, contacts[2]!.email].sort(),
  );
  await pass(1);
  assert.equal(mailed.length, 3);
  await makeContacts(db, { orgId, surveyId: await makeSurvey(db, orgId) }, { count: 1 });
  await pass(3);
  assert.equal(mailed.length, 3);
});

test('automatic sends continue in the next month at the limit', async () => {
  const { contacts, clock, sweep, pass, mailed } = await scene({
    survey: { ask_after_days: 0, ask_after_days_since: new Date('2027-01-01T00:00:00Z') },
    organization: { monthly_send_limit: 2 },
  });
  for (const [place, day] of ['03', '01', '02'].entries()) {
    await db`update contacts set created_at = ${`2027-01-${day}T00:00:00Z`} where id = ${contacts[place]!.id}`;
  }
  clock.at = new Date('2027-01-29T12:00:00Z');
  await sweep();
  await pass(2);
  const emails = () => mailed.map(({ email }) => email);
  const [third, first, second] = contacts.map(({ email }) => email);
  assert.deepEqual(new Set(emails()), new Set([first, second]), 'those that wait longest');
  await pass(1);
  assert.deepEqual(emails().slice(2), [third]);
});

test('nothing is sent automatically outside the window', async () => {
  const window = { days: ['mon'], from: '09:00', to: '10:00', time_zone: 'UTC' };
  const { clock, sweep, later, mailed } = await scene({
    survey: {
      ask_after_days: 0,
      ask_after_days_since: new Date('2027-01-01T00:00:00Z'),
      send_window: db.json(window),
    },
  });
  await db`update contacts set created_at = '2027-01-01T00:00:00Z' where created_at > now() - interval '1 minute'`;
  clock.at = new Date('2027-01-15T09:30:00Z'); // a Friday
  await sweep();
  assert.equal(mailed.length, 0);
  clock.at = new Date('2027-01-18T09:00:00Z');
  await sweep();
  later(1000);
  await sweep();
  assert.equal(mailed.length, 3);
});
