import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { watchRequests } from '../../src/operations/operator/requests.ts';
import { fakeResolver } from '../support/fakes/dns.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { makeMember, signIn } from '../support/make/session.ts';
import { testSettings } from '../support/make/settings.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { visitorBrowser } from '../support/probe/visitor.ts';

const { db } = await testDatabase();
const checks = { runners: () => 'not running: mail', database: () => undefined };
const app = bareApp(db, { checks, warnings: { proxy: () => 'a proxy is not trusted' } });

/** The browser of an operator who belongs to no organization. */
async function operatorBrowser(of = app) {
  const id = await makeMember(db, { is_operator: true, name: 'Op' });
  const { Cookie } = await signIn(db, { member: id });
  const [name = '', token = ''] = Cookie.split('; ')[0]!.split('=');
  return { id, ...visitorBrowser(of, { [name]: token }) };
}

test('Operator shows what is wrong and organizations without responses', async () => {
  const org = await makeOrganization(db, { name: 'Quince & Co' });
  const survey = await makeSurvey(db, org, { name: 'Secret survey' });
  const contact = await makeContact(
    db,
    { org_id: org, survey_id: survey },
    { email: 'who@people.test' },
  );
  await makeResponse(
    db,
    { org_id: org, survey_id: survey },
    { comment: 'Secret comment', contact_id: contact },
  );
  await db`select graphile_worker.add_job('keys.clean_up')`;
  await db`insert into worker_pools ${db({ pool_id: 'lease-1', session: 'none', session_role: 'none', program: 'askback 9.8.7' })}`;

  const page = await (await (await operatorBrowser()).get('/operator')).text();
  for (const shown of [
    'not running: mail',
    'a proxy is not trusted',
    'keys.clean_up',
    'Quince &amp; Co',
    'askback 9.8.7',
  ]) {
    assert.ok(page.includes(shown), shown);
  }
  assert.match(page, /Something is wrong: 1 check failed/);
  assert.match(page, / · 1 process · up \d+ (s|min)</);
  assert.match(page, /<dt>Database<\/dt><dd>PostgreSQL 1[5-9]\.[^<]+ answers/);
  assert.match(page, /no backup by <code>askback backup<\/code> is recorded/);
  for (const secret of ['Secret', 'who@people.test']) assert.ok(!page.includes(secret), secret);
});

test('Operator shows recent failed requests and the busiest organizations', async (t) => {
  const requests = watchRequests();
  t.after(requests.stop);
  const own = bareApp(db, { requests });
  own.get('/broken/:secret', () => {
    throw new Error('a bug');
  });
  const org = await makeOrganization(db, { name: 'Busy Bees' });
  await (await memberBrowser(db, { app: own, org })).get('/');
  const headers = { 'X-Request-Id': 'request-of-the-night' };
  assert.equal((await own.request('/broken/abc', { headers })).status, 500);

  const page = await (await (await operatorBrowser(own)).get('/operator')).text();
  assert.match(page, /1 request failed in the last hour/);
  assert.match(page, /GET \/broken\/:secret<\/code>[\s\S]*request-of-the-night/);
  assert.ok(!page.includes('/broken/abc'));
  assert.match(page, new RegExp(`/operator/organizations/${org}"><bdi>Busy Bees`));
});

test('Operator checks mail server and DNS only when asked', async () => {
  const asked: string[] = [];
  const dns = fakeResolver({ 'MX acme.test': ['10 mx.acme.test'] }, asked);
  const settings = { ...testSettings, smtpUrl: 'smtp://127.0.0.1:1' };
  await makeSurvey(db, await makeOrganization(db), { from_email: 'ask@acme.test' });
  const { get } = await operatorBrowser(bareApp(db, { settings, dns }));
  const page = async (path: string) => await (await get(path)).text();
  assert.match(await page('/operator'), /have not been checked since this process started/);
  assert.deepEqual(asked, []);
  const findings = /<b>SMTP 127\.0\.0\.1:1<\/b>[\s\S]*Add this record to DNS/;
  assert.match(await page('/operator?check=now'), findings);
  assert.ok(asked.length > 0);
  const lookups = asked.length;
  assert.match(await page('/operator'), findings);
  assert.match(await page('/operator?check=now'), findings);
  assert.equal(asked.length, lookups, 'the result is kept');
});

test('an operator creates an organization and invites its owner', async () => {
  const { get, post } = await operatorBrowser();
  const email = `${randomUUID()}@people.test`;
  const form = { name: 'Medlar', monthly_send_limit: '500', email };
  const made = await post('/operator/organizations', form);
  assert.equal(made.status, 303);
  const page = await (await get(made.headers.get('Location')!)).text();
  const [, path = ''] = /https:\/\/askback\.test(\/invitations\/[\w-]{43})/.exec(page) ?? [];
  assert.match(page, /This organization has no owner yet/);

  const owner = visitorBrowser(app);
  await owner.post(path, { name: 'Own', password: 'glass heron tuesday' });
  assert.equal((await owner.get('/')).headers.get('Location'), '/o/medlar');
  const [row] = await db`
    select o.monthly_send_limit, m.role from organizations o join memberships m on m.org_id = o.id
    where o.slug = 'medlar'`;
  assert.deepEqual({ ...row }, { monthly_send_limit: 500, role: 'owner' });
  // An operator who is not a member gets 404 inside the organization.
  assert.equal((await get('/o/medlar')).status, 404);
});

test('an operator changes a limit, and the audit log records it', async () => {
  const { id, post } = await operatorBrowser();
  const org = await makeOrganization(db);
  const path = `/operator/organizations/${org}`;
  for (const [limit, status] of [
    ['-1', 422],
    ['0', 303],
    ['1000000000', 422],
    ['999999999', 303],
  ] as const) {
    assert.equal((await post(path, { monthly_send_limit: limit })).status, status, limit);
  }
  assert.equal((await post(path, { monthly_send_limit: '77' })).status, 303);
  const [row] = await db`select monthly_send_limit from organizations where id = ${org}`;
  assert.equal(row?.['monthly_send_limit'], 77);
  const acts = await db<{ act: string }[]>`
    select act from audit_events where org_id = ${org} and actor_id = ${id}`;
  assert.deepEqual(
    acts.map(({ act }) => act),
    Array(3).fill('organization.changed'),
  );
});

test('operators add operators and cannot remove the last one', async () => {
  await db`update members set is_operator = false`;
  const { id, get, post } = await operatorBrowser();
  const refused = await post(`/operator/operators/${id}/remove`);
  assert.equal(refused.status, 422);
  assert.match(
    await refused.text(),
    /This is the last operator\. Make another member an operator first\./,
  );

  const email = `${randomUUID()}@people.test`;
  const other = await makeMember(db, { email });
  assert.equal((await post('/operator/operators', { email: email.toUpperCase() })).status, 303);
  assert.match(await (await get('/operator')).text(), new RegExp(email));
  const invited = await post('/operator/operators', { email: `${randomUUID()}@people.test` });
  assert.match(await (await get(invited.headers.get('Location')!)).text(), /\/invitations\//);

  assert.equal((await post(`/operator/operators/${id}/remove`)).status, 303);
  assert.equal((await get('/operator')).status, 404);
  const left = await db<{ id: string }[]>`select id from members where is_operator`;
  assert.deepEqual(
    left.map((one) => one.id),
    [other],
  );
});

test('two operators who remove each other at once leave one', async () => {
  await db`update members set is_operator = false`;
  const [one, two] = [await operatorBrowser(), await operatorBrowser()];
  await Promise.all([
    one.post(`/operator/operators/${two.id}/remove`),
    two.post(`/operator/operators/${one.id}/remove`),
  ]);
  assert.equal((await db`select from members where is_operator`).length, 1);
});

test('an operator deletes an organization, and a receipt stays', async () => {
  const { get, post } = await operatorBrowser();
  const org = await makeOrganization(db, { name: 'Sorrel' });
  const survey_id = await makeSurvey(db, org);
  const contact_id = await makeContact(db, { org_id: org, survey_id });
  await makeResponse(db, { org_id: org, survey_id }, { contact_id });
  const path = `/operator/organizations/${org}/delete`;
  assert.equal((await get(path)).status, 200);
  assert.equal((await post(path, { name: 'Sorel' })).status, 422);
  assert.equal((await post(path, { name: 'Sorrel' })).status, 303);
  for (const table of ['organizations', 'surveys', 'contacts', 'responses']) {
    const column = table === 'organizations' ? 'id' : 'org_id';
    const rows = await db`select from ${db(table)} where ${db(column)} = ${org}`;
    assert.equal(rows.length, 0, table);
  }
  const page = await (await get('/operator')).text();
  assert.match(page, /Deleted organizations[\s\S]*Sorrel/);
});
