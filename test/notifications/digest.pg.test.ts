import assert from 'node:assert/strict';
import { test } from 'node:test';
import PostalMime from 'postal-mime';
import { mailNotification } from '../../src/notifications/mail.ts';
import { sweepDigests } from '../../src/notifications/sweep.ts';
import { categoryOf, type SurveyType } from '../../src/survey-types.ts';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { joinOrganization, makeMember } from '../support/make/session.ts';
import { taskTools } from '../support/make/task-tools.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const tools = taskTools(db);

/** A Monday in Oslo, one hour ahead of UTC. */
const monday = (time: string) => new Date(`2026-03-02T${time}Z`);
const time_zone = 'Europe/Oslo';

async function reader(wish: { digest: string; time_zone?: string; changed_at?: Date }) {
  const org_id = await makeOrganization(db);
  const member_id = await makeMember(db);
  await joinOrganization(db, { org: org_id, member: member_id, role: 'viewer' });
  const changed_at = new Date('2026-01-01');
  await db`insert into notification_choices ${db({ org_id, member_id, time_zone, changed_at, ...wish })}`;
  const [member] = await db<{ email: string }[]>`select email from members where id = ${member_id}`;
  return { org_id, email: member!.email };
}

async function run(now: Date) {
  await sweepDigests(tools, now);
  const jobs = await db<{ payload: { org_id: string; notification_id: string } }[]>`
    delete from test.jobs where task = 'notifications.mail' returning payload`;
  for (const { payload } of jobs) await mailNotification(tools, payload);
}

async function mailsTo(email: string) {
  const rows = await db<{ raw: Buffer }[]>`
    select raw from mailbox_messages where rcpt_to = ${email}`;
  return await Promise.all(rows.map(({ raw }) => PostalMime.parse(raw)));
}

test("digest of yesterday is mailed once from 9 in the member's zone", async () => {
  const { org_id, email } = await reader({ digest: 'day' });
  const survey_id = await makeSurvey(db, org_id);
  const good = { score: 10, category: 'promoter' };
  const bad = { score: 1, category: 'detractor' };
  const answers = [
    { ...good, created_at: new Date('2026-02-28T23:00Z') },
    { ...good, created_at: new Date('2026-03-01T22:59Z') },
    { ...bad, created_at: new Date('2026-03-01T12:00Z') },
    { ...bad, created_at: new Date('2026-02-28T22:59:59.999Z') },
    { ...good, created_at: new Date('2026-02-27T23:00Z') },
    { ...good, created_at: new Date('2026-02-27T22:59:59.999Z') },
    { ...bad, created_at: new Date('2026-03-01T23:00Z') },
    { ...bad, created_at: new Date('2026-03-01T12:00Z'), held_reason: 'no_page_view' },
  ];
  for (const answer of answers) await makeResponse(db, { org_id, survey_id }, answer);
  await run(monday('07:59:59'));
  assert.deepEqual(await mailsTo(email), []);
  await run(monday('08:00:00'));
  await run(monday('08:10:00'));
  const mails = await mailsTo(email);
  assert.equal(mails.length, 1);
  assert.equal(mails[0]!.subject, 'Acme: 3 responses, NPS +33');
  assert.match(mails[0]!.text ?? '', /1 March 2026\./);
  assert.match(
    mails[0]!.text ?? '',
    /NPS: \+33, no clear change \(3 responses, margin of error −51\.3 to \+84\.7\)\./,
  );
  assert.match(mails[0]!.text ?? '', /3 open detractors/);
  await run(new Date('2026-03-03T08:00:00Z'));
  assert.equal((await mailsTo(email)).length, 2);
});

test('digest has one number per scale and audience', async () => {
  const { org_id, email } = await reader({ digest: 'day' });
  const answers = async (over: Record<string, unknown>, scores: [number, string][]) => {
    const survey_id = await makeSurvey(db, org_id, over);
    for (const [score, day] of scores) {
      const category = categoryOf((over['type'] ?? 'nps') as SurveyType, score);
      const created_at = new Date(`2026-${day}T12:00Z`);
      await makeResponse(db, { org_id, survey_id }, { score, category, created_at });
    }
  };
  const [yesterday, before] = ['03-01', '02-28'];
  await answers({}, [
    ...([10, 9, 8].map((score) => [score, yesterday]) as [number, string][]),
    [0, before] as [number, string],
  ]);
  await answers({ audience: 'employee' }, [[2, yesterday]]);
  await answers({ type: 'csat' }, [
    [5, yesterday],
    [1, yesterday],
  ]);
  await answers({ type: 'ces' }, [
    [7, yesterday],
    [6, before],
  ]);
  await answers({ type: 'star5' }, [[3, before]]);
  await run(monday('08:00:00'));
  const [mail] = await mailsTo(email);
  assert.equal(mail!.subject, 'Acme: 7 responses, NPS +67');
  const words = mail!.text!.split('\n').filter((line) => line !== '');
  assert.deepEqual(words.slice(0, 7), [
    '1 March 2026.',
    '7 responses.',
    'NPS, customers: +67, no clear change (3 responses, margin of error −21.7 to +88.3).',
    'Ease of 7: 7.00 (1 response).',
    'Satisfied: 50% (2 responses, margin of error 9.5% to 90.5%).',
    'NPS, employees: −100 (1 response, margin of error −98.5 to +48.5).',
    '3 open detractors.',
  ]);
  const opened = new URL(words[words.indexOf('Open Home:') + 1]!);
  assert.deepEqual(Object.fromEntries(opened.searchParams), {
    date_from: '2026-03-01',
    date_to: '2026-03-01',
  });
});

test('weekly digest has seven days when the clock changes', async () => {
  const { org_id, email } = await reader({ digest: 'week' });
  const survey_id = await makeSurvey(db, org_id);
  const times = ['2026-03-22T22:59', '2026-03-22T23:00', '2026-03-29T21:59', '2026-03-29T22:00'];
  for (const time of times) {
    await makeResponse(db, { org_id, survey_id }, { created_at: new Date(`${time}Z`) });
  }
  await run(new Date('2026-03-30T06:59:59Z'));
  assert.deepEqual(await mailsTo(email), []);
  await run(new Date('2026-03-30T07:00:00Z'));
  const [mail] = await mailsTo(email);
  assert.match(mail!.subject ?? '', /^Acme: 2 responses/);
  assert.match(mail!.text ?? '', /23 March 2026 to 29 March 2026/);
  assert.match(mail!.text ?? '', /date_from=2026-03-23&date_to=2026-03-29/);
});

test('unknown time zone does not block other digests', async () => {
  const strange = await reader({ digest: 'day', time_zone: 'VST' });
  const { email } = await reader({ digest: 'day' });
  await run(new Date('2026-03-04T08:10:00Z'));
  assert.equal((await mailsTo(email)).length, 1);
  assert.equal((await mailsTo(strange.email)).length, 0);
});
