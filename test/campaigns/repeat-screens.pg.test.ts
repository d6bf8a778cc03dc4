import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sweepCampaigns } from '../../src/campaigns/automation.ts';
import { campaignRunner, makeContacts } from '../support/make/campaigns.ts';
import { makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const dayMs = 24 * 60 * 60 * 1000;

/** A survey whose contacts were all asked some days ago. */
async function scene({ role = 'editor' as 'viewer' | 'editor', daysAgo = 10, people = 4 } = {}) {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org, { name: 'Customer loyalty' });
  const contacts = await makeContacts(db, { orgId: org, surveyId: survey }, { count: people });
  const asked = new Date(Date.now() - daysAgo * dayMs);
  await db`update contacts set status = 'sent', sent_at = ${asked} where survey_id = ${survey}`;
  const browser = await memberBrowser(db, { org, role });
  const path = `${browser.home}/surveys/${survey}`;
  const stored = async () =>
    (await db`select repeat from surveys where id = ${survey}`)[0]!['repeat'];
  return { ...browser, org, survey, contacts, path, stored };
}

const read = async (answer: Promise<Response>) => await (await answer).text();
const versionIn = (html: string) => /name="version" value="([^"]+)"/.exec(html)![1]!;

test('rounds are set, scheduled, asked, counted and turned off', async () => {
  const { home, path, get, post, org, survey, contacts, stored } = await scene();
  const blank = await read(get(`${path}/repeat`));
  assert.match(blank, /No rounds scheduled/);
  assert.match(blank, /<input id="every_days"/);
  const values = { every_days: '10', per_day: '3', version: versionIn(blank) };
  const saved = await post(`${path}/repeat`, values);
  assert.equal(saved.status, 303);
  assert.deepEqual(await stored(), { every_days: 10, audience: null, per_day: 3, spread: false });

  const scheduled = await read(get(`${path}/repeat`));
  assert.match(scheduled, /12 emails will be sent/);
  assert.match(scheduled, /<span class="n">3<\/span>.*<span class="n">1<\/span>/s);
  assert.match(await read(get(`${path}/send`)), /Every 10 days, at most 3 per day/);

  const runner = campaignRunner(db, org);
  await sweepCampaigns(runner.tools);
  await runner.work();
  assert.equal(runner.mailed.length, 3);
  assert.match(await read(get(`${path}/send`)), /Rounds every 10 days/);
  assert.match(await read(get(`${path}/contacts`)), /Round 2/);
  const timeline = await read(get(`${home}/people/${contacts[0]!.id}`));
  assert.match(timeline, /Sent<.*, round 2<.*Added to the survey</s);
  const of = { org_id: org, survey_id: survey };
  await makeResponse(db, of, { contact_id: contacts[0]!.id, score: 9, category: 'promoter' });
  const results = await read(get(path));
  assert.match(results, /Rounds.*>Round 2<.*No responses.*>Round 1<.*100/s);

  const off = await post(`${path}/repeat`, {
    every_days: '',
    version: versionIn(await read(get(`${path}/repeat`))),
  });
  assert.equal(off.status, 303);
  assert.equal(await stored(), null);
});

test('the form rejects an interval out of range and keeps it', async () => {
  const { path, post, stored } = await scene();
  const refused = await post(`${path}/repeat`, { every_days: '3', per_day: 'many' });
  assert.equal(refused.status, 422);
  const html = await refused.text();
  assert.match(html, /Must be a whole number from 7 to 730/i);
  assert.match(html, /Must be a number/i);
  assert.match(html, /name="every_days"[^>]*value="3"/);
  assert.equal(await stored(), null);
});

test('the form keeps a segment that was deleted before Save', async () => {
  const { path, post, stored } = await scene();
  const refused = await post(`${path}/repeat`, { every_days: '30', audience: randomUUID() });
  assert.equal(refused.status, 422);
  const html = await refused.text();
  assert.match(html, /This segment was deleted\. Choose another audience\./);
  assert.match(html, /selected[^>]*>A deleted segment</);
  assert.equal(await stored(), null);
});

test('the form shows the current values when somebody else changed them', async () => {
  const { path, get, post, stored } = await scene();
  const version = versionIn(await read(get(`${path}/repeat`)));
  await post(`${path}/repeat`, { every_days: '30', spread: 'on', version });
  const late = await post(`${path}/repeat`, { every_days: '90', spread: 'on', version });
  assert.equal(late.status, 422);
  assert.match(await late.text(), /Current value: 30/);
  assert.deepEqual(await stored(), { every_days: 30, audience: null, per_day: null, spread: true });
});

test('a viewer sees the rounds without the form', async () => {
  const { path, get, post } = await scene({ role: 'viewer' });
  const html = await read(get(`${path}/repeat`));
  assert.match(html, /Contacts are asked once/);
  assert.doesNotMatch(html, /name="every_days"/);
  assert.equal((await post(`${path}/repeat`, { every_days: '30' })).status, 403);
});
