import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import {
  type AutomaticSurvey,
  type Automation,
  findRemindedUntil,
  listDueToAsk,
  listDueToRemind,
} from '../../src/campaigns/judge.ts';
import { one } from '../../src/lib/db/db.ts';
import { campaignRunner } from '../support/make/campaigns.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
/** Each case has its own survey in the same organization. */
const orgId = await makeOrganization(db);
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const now = new Date('2027-01-15T12:00:00Z');
const afterDays = 3;
/** Contacts and mails of this time are just due. */
const dueMs = now.getTime() - afterDays * dayMs;
const seenMs = dueMs - dayMs;

type Times = Partial<{ seen: number | null; setMs: number; of: 'own' | 'another' }>;

async function scene(kind: 'asking' | 'reminder', { seen = null, setMs = 0, of }: Times) {
  const surveyId = await makeSurvey(db, orgId);
  const of_survey = { org_id: orgId, survey_id: surveyId };
  const contactId = await makeContact(db, of_survey, { created_at: new Date(0) });
  const add = async (campaign: object) =>
    one(
      await db<Automation[]>`
        insert into campaigns ${db({ ...of_survey, name: 'Spring', status: 'running', ...campaign })}
        returning id, turn, month::text, waiting, created_at, seen_until`,
    );
  const campaign = await add({
    kind,
    reminder: kind === 'asking' ? 0 : 1,
    after_days: afterDays,
    created_at: new Date(setMs),
    seen_until: seen === null ? null : new Date(seen),
  });
  const another = await add({});
  if (of) {
    const campaign_id = of === 'own' ? campaign.id : another.id;
    const row = { ...of_survey, campaign_id, contact_id: contactId };
    await db`insert into campaign_contacts ${db(row)}`;
  }
  const survey = of_survey as AutomaticSurvey;
  const reminder = kind === 'asking' ? 0 : 1;
  return {
    survey,
    contactId,
    due: { survey, kind, reminder, campaign, afterDays, now, atMost: 10 },
  };
}

const mailed = (
  { survey, contactId }: Awaited<ReturnType<typeof scene>>,
  { claimedMs, finishedMs }: { claimedMs: number; finishedMs: number | null },
) => db`
  insert into mails ${db({
    org_id: orgId,
    survey_id: survey.survey_id,
    contact_id: contactId,
    email: 'ann@people.test',
    request_id: randomUUID(),
    month: '2027-01-01',
    status: finishedMs === null ? 'claimed' : 'sent',
    claimed_at: new Date(claimedMs),
    finished_at: finishedMs === null ? null : new Date(finishedMs),
  })}`;

const added: [what: string, addedMs: number, times: Times, isDue: boolean][] = [
  ['so many days ago', dueMs, {}, true],
  ['a moment less ago', dueMs + 1, {}, false],
  ['an hour before the seen time', seenMs - hourMs, { seen: seenMs }, false],
  ['less than an hour before the seen time', seenMs - hourMs + 1, { seen: seenMs }, true],
  ['and asked by that', dueMs, { of: 'own' }, false],
  ['and in another campaign, which has not mailed it', dueMs, { of: 'another' }, true],
];
for (const [what, addedMs, times, isDue] of added) {
  test(`a contact added ${what} is ${isDue ? '' : 'not '}due`, async () => {
    const { contactId, due } = await scene('asking', times);
    await db`update contacts set created_at = ${new Date(addedMs)} where id = ${contactId}`;
    const found = await listDueToAsk(db, due);
    assert.deepEqual(
      found.map(({ id }) => id),
      isDue ? [contactId] : [],
    );
  });
}

const setMs = dueMs - dayMs / 2;
const sent: [what: string, claimedMs: number, sentMs: number, times: Times, isDue: boolean][] = [
  ['so many days ago', dueMs, dueMs, {}, true],
  ['a moment less ago', dueMs, dueMs + 1, {}, false],
  [
    'so many days before the reminder was set',
    ...([setMs - afterDays * dayMs, setMs - afterDays * dayMs] as const),
    ...([{ setMs }, true] as const),
  ],
  [
    'a moment before that',
    ...([setMs - afterDays * dayMs, setMs - afterDays * dayMs - 1] as const),
    ...([{ setMs }, false] as const),
  ],
  ['and claimed an hour before the seen time', seenMs - hourMs, dueMs, { seen: seenMs }, false],
  ['and claimed less than an hour before it', seenMs - hourMs + 1, dueMs, { seen: seenMs }, true],
  ['and reminded of', dueMs, dueMs, { of: 'own' }, false],
  ['in another campaign', dueMs, dueMs, { of: 'another' }, true],
];
for (const [what, claimedMs, finishedMs, times, isDue] of sent) {
  test(`a mail sent ${what} is ${isDue ? '' : 'not '}due for a reminder`, async () => {
    const made = await scene('reminder', times);
    await mailed(made, { claimedMs, finishedMs });
    const found = await listDueToRemind(db, made.due);
    assert.deepEqual(
      found.map(({ id }) => id),
      isDue ? [made.contactId] : [],
    );
  });
}

const lateMs = dueMs - 2 * hourMs;
const seenUntil: [what: string, claimedMs: number, sentMs: number | null, untilMs: number][] = [
  ['has no outcome yet', lateMs, null, lateMs],
  ['falls due later', lateMs, dueMs + 1, lateMs],
  ['is due', lateMs, dueMs, dueMs],
  ['was claimed an hour before the seen time', seenMs - hourMs, null, dueMs],
  ['was claimed later than that', seenMs - hourMs + 1, null, seenMs - hourMs + 1],
];
for (const [what, claimedMs, finishedMs, untilMs] of seenUntil) {
  test(`everything is done until ${new Date(untilMs).toISOString()} if a mail ${what}`, async () => {
    const made = await scene('reminder', { seen: seenMs });
    await mailed(made, { claimedMs, finishedMs });
    const until = await findRemindedUntil(db, made.due);
    assert.deepEqual(until, new Date(untilMs));
  });
}

test('existing contacts are due from the day automation was set', async () => {
  const org_id = await makeOrganization(db);
  const survey_id = await makeSurvey(db, org_id, { ask_after_days: 3, ask_after_days_since: now });
  await makeContact(db, { org_id, survey_id }, { created_at: new Date(now.getTime() - dayMs) });
  const { clock, tools, later } = campaignRunner(db, org_id);
  const asked = async () => {
    await sweepCampaigns(tools);
    return (await db`select from campaign_contacts where org_id = ${org_id}`).length;
  };
  clock.at = new Date(now.getTime() + 3 * dayMs - 1);
  assert.equal(await asked(), 0);
  later(1);
  assert.equal(await asked(), 1);
});
