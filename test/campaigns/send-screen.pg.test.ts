import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { json } from '../../src/lib/db/db.ts';
import { makeContacts } from '../support/make/campaigns.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();

async function scene(over: Record<string, unknown> = {}) {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org, over);
  const browser = await memberBrowser(db, { org, role: 'editor' });
  const path = `${browser.home}/surveys/${survey}`;
  const text = async (place: string) =>
    (await (await browser.get(`${path}/${place}`)).text()).replace(/<[^>]*>/g, ' ');
  return { ...browser, org, survey, path, text };
}

test('the screen of a send shows the last twenty campaigns', async () => {
  const { org, survey, text } = await scene();
  const campaigns = Array.from({ length: 21 }, (_, place) => ({
    org_id: org,
    survey_id: survey,
    name: `round-${place}.`,
    status: 'finished',
    created_at: new Date(Date.UTC(2026, 0, 1, place)),
  }));
  await db`insert into campaigns ${db(campaigns)}`;
  const names = (await text('send')).match(/round-\d+\./g);
  assert.deepEqual(
    names,
    campaigns
      .slice(1)
      .reverse()
      .map(({ name }) => name),
  );
});

for (const [reminders, advice] of [
  [[], 'No contact is left to mail. Add contacts first.'],
  [[{ after_days: 3 }], 'No contact is left to mail. Add contacts, or wait for the reminders.'],
] as const) {
  test(`a survey with ${reminders.length} reminders whose contacts were all asked: ${advice}`, async () => {
    const { org: orgId, survey: surveyId, text } = await scene({ reminders: json(db, reminders) });
    await makeContacts(db, { orgId, surveyId }, { count: 1, status: 'sent' });
    assert.ok((await text('send')).includes(advice));
  });
}

test('a time that does not exist, and one that has passed, are mistakes with their own words', async () => {
  const { org: orgId, survey: surveyId, path, post } = await scene();
  await makeContacts(db, { orgId, surveyId }, { count: 1 });
  for (const [send_at, mistake] of [
    ['2027-02-30T09:00', 'This time does not exist.'],
    ['2020-02-28T09:00', 'This time has passed.'],
    ['', 'Say when it should start.'],
  ] as const) {
    const answer = await post(`${path}/send`, { when: 'at', send_at, per_hour: '' });
    assert.equal(answer.status, 422);
    assert.ok((await answer.text()).includes(mistake), mistake);
  }
});

test('outcomes say why as soon as one of them has a reason', async () => {
  const { org, survey, path, get } = await scene();
  const of = { org_id: org, survey_id: survey };
  const contacts = await makeContacts(db, { orgId: org, surveyId: survey }, { count: 2 });
  const [campaign] = await db<{ id: string }[]>`
    insert into campaigns ${db({ ...of, name: 'Spring', status: 'running', total: 2 })} returning id`;
  const rows = contacts.map(({ id }) => ({ ...of, campaign_id: campaign!.id, contact_id: id }));
  await db`insert into campaign_contacts ${db(rows)}`;
  const heads = async () => {
    const html = await (await get(`${path}/send/${campaign!.id}`)).text();
    return [...html.matchAll(/<th[^>]*>([^<]*)</g)].map(([, head]) => head!.trim());
  };
  assert.ok(!(await heads()).includes('Why'));
  await db`
    update campaign_contacts set reason_code = 'bounced', reason = 'bounced'
    where contact_id = ${contacts[0]!.id}`;
  assert.ok((await heads()).includes('Why'));
});

test('a judgement is exported of a survey that is there, and that is recorded', async () => {
  const { org, home, path, get } = await scene();
  const exports = async () =>
    (await db`select from audit_events where org_id = ${org} and act = 'contacts.exported'`).length;
  assert.equal((await get(`${home}/surveys/${randomUUID()}/send/judgement.csv`)).status, 404);
  assert.equal(await exports(), 0);
  assert.equal((await get(`${path}/send/judgement.csv`)).status, 200);
  assert.equal(await exports(), 1);
});
