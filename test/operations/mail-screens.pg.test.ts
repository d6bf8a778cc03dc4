import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeResolver } from '../support/fakes/dns.ts';
import { makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();

async function mailPage(
  role: 'owner' | 'editor' = 'owner',
  smtpUrl: string | null = 'smtp://127.0.0.1:1',
) {
  const asked: string[] = [];
  const dns = fakeResolver(
    { 'MX acme.test': ['10 mx.acme.test'], 'A mx.acme.test': ['8.8.8.8'] },
    asked,
  );
  const settings = { ...testSettings, bounceDomain: null, smtpUrl };
  const orgId = await makeOrganization(db);
  await makeSurvey(db, orgId);
  const other = await makeOrganization(db);
  await makeSurvey(db, other, { from_email: 'bo@secret.test' });
  const app = bareApp(db, { settings, dns });
  const browser = await memberBrowser(db, { app, org: orgId, role });
  return { ...browser, asked, page: `${browser.home}/settings/mail` };
}

test('the Mail page appears before DNS is checked', async () => {
  const { get, page, asked } = await mailPage();
  const html = await (await get(page)).text();
  assert.deepEqual(asked, []);
  assert.match(html, /hx-get="[^"]*\?look=now"/);
  assert.match(html, /<a class="button" href="[^"]*\?look=now"/);
});

test('mail findings of the organization are cached for 15 seconds', async (t) => {
  const begun = Math.ceil(performance.now());
  let laterMs = 0;
  t.mock.method(performance, 'now', () => begun + laterMs);
  const { get, page, asked } = await mailPage();
  const html = await (await get(`${page}?look=now`)).text();
  assert.match(html, /Recommended|Required/);
  assert.match(html, /value="_dmarc\.acme\.test"/);
  assert.ok(asked.length > 0);
  assert.ok(!asked.join(' ').includes('secret.test'));
  const before = asked.length;
  laterMs = 14_999;
  await get(`${page}?look=now`);
  assert.equal(asked.length, before, 'DNS is not asked again at once');
  laterMs = 15_000;
  await get(`${page}?look=now`);
  assert.equal(asked.length, 2 * before);
});

test('the Mail page explains the mailbox without a mail server', async () => {
  const { get, page, asked } = await mailPage('owner', null);
  for (const path of [page, `${page}?look=now`]) {
    const html = await (await get(path)).text();
    assert.doesNotMatch(html, />OK</);
    assert.match(html, /No mail server is configured/);
    assert.match(html, /<a href="\/mailbox">built-in mailbox<\/a>/);
    assert.match(html, /<code>ASKBACK_SMTP_URL<\/code>/);
    assert.doesNotMatch(html, /hx-get="[^"]*look=now"/);
  }
  assert.deepEqual(asked, []);
});
