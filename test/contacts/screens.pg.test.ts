import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = testApp(db);

test('a list without contacts says when those that are added are mailed', async () => {
  const org = await makeOrganization(db);
  const { home, get } = await memberBrowser(db, { app, org, role: 'viewer' });
  for (const [ask_after_days, means] of [
    [null, 'Nothing is sent before you press Send.'],
    [0, 'it mails each contact as soon as it is added.'],
    [1, 'it mails each contact 1 day later.'],
    [30, 'it mails each contact 30 days later.'],
  ] as const) {
    const survey = await makeSurvey(db, org, {
      ask_after_days,
      ask_after_days_since: ask_after_days === null ? null : new Date(),
    });
    const html = await (await get(`${home}/surveys/${survey}/contacts`)).text();
    assert.ok(html.includes(means), means);
    assert.equal(html.includes('Nothing is sent'), ask_after_days === null);
  }
});
