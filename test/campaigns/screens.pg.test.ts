import assert from 'node:assert/strict';
import { test } from 'node:test';
import { campaignRunner, makeContacts } from '../support/make/campaigns.ts';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();

async function scene(role: 'viewer' | 'editor' | 'owner' = 'editor', organization = {}) {
  const org = await makeOrganization(db, organization);
  const survey = await makeSurvey(db, org, { name: 'Customer loyalty' });
  const browser = await memberBrowser(db, { org, role });
  return { ...browser, org, survey, path: `${browser.home}/surveys/${survey}` };
}

const list = 'email,name\nann@people.test,Ann\nbob@people.test,Bob\nnot an address,Cid\n';

test('a list is uploaded, reviewed, sent, paused and resumed', async () => {
  const { org, path, get, post } = await scene();
  const uploaded = await post(`${path}/contacts/uploads`, {
    file: new File([list], 'november.csv'),
  });
  assert.equal(uploaded.status, 303);
  const mapping = uploaded.headers.get('Location')!;
  assert.match(await (await get(mapping)).text(), /november\.csv/);
  const imported = await post(mapping, { column_0: 'email', column_1: 'name', header: 'on' });
  assert.equal(imported.status, 303);
  assert.match(await (await get(mapping)).text(), /2 contacts added.*1 row skipped/s);

  const before = await (await get(`${path}/send`)).text();
  assert.match(before, /2 <small>recipients</);
  assert.match(before, /Not a valid address/);
  const csv = await (await get(`${path}/send/judgement.csv`)).text();
  assert.deepEqual(
    csv.split('\r\n').filter((line) => line.startsWith('ann')),
    ['ann@people.test,true,,,'],
  );

  const sent = await post(`${path}/send`, { when: 'now' });
  assert.equal(sent.status, 303);
  const campaign = sent.headers.get('Location')!;
  const running = await (await get(campaign)).text();
  const updated = /<div id="campaign"[^>]*hx-trigger="every 2s"[^>]*>.*<\/div>/s.exec(running)?.[0];
  assert.match(updated ?? '', /Progress.*ann<wbr\/>@people\./s);
  await post(`${campaign}/pause`);
  assert.match(await (await get(campaign)).text(), /Campaign paused/);
  await post(`${campaign}/resume`);
  await campaignRunner(db, org).workFor(0);
  const runner = campaignRunner(db, org);
  await runner.workFor(4);
  const after = await (await get(campaign)).text();
  assert.match(after, /2 <small>of 2 emails sent/);
  assert.match(after, /<rect class="is-good" x="0%" width="100%"/);
  assert.doesNotMatch(after, /hx-trigger="every 2s"/);
  const results = await (await get(`${campaign}/results.csv`)).text();
  assert.match(results, /bob@people\.test,sent/);
  assert.match(await (await get(`${path}/send`)).text(), /already been asked/);
});

test('results can be searched while they change', async () => {
  const { org, survey, path, get, post } = await scene();
  await makeContacts(db, { orgId: org, surveyId: survey }, { count: 51 });
  await db`insert into contacts (org_id, survey_id, email, token) values (${org}, ${survey}, 'zoe@shop.test', ${`z-${survey}`})`;
  const campaign = (await post(`${path}/send`, { when: 'now' })).headers.get('Location')!;
  const all = await (await get(campaign)).text();
  assert.match(all, /1 to 50 of 52.*\?page=2/s);
  const found = await (await get(`${campaign}?search=zoe`)).text();
  assert.match(found, /zoe<wbr\/>@shop/);
  assert.doesNotMatch(found, /1 to 1 of 1/);
  assert.match(found, /<div id="campaign"[^>]*hx-get="[^"]*\?search=zoe"[^>]*outcomes:outerMorph/);
  // The search field is outside the swapped parts.
  const typed = found.indexOf('name="search"');
  assert.ok(typed > found.indexOf('Pause') && typed < found.indexOf('id="outcomes"'));
  assert.match(await (await get(`${campaign}?search=zzz`)).text(), /No contacts match/);
});

test('a campaign shows its response rate, first responses and reasons', async () => {
  const { org, survey, path, get, post } = await scene();
  const of = { org_id: org, survey_id: survey };
  const ann = await makeContact(db, of, { email: 'ann@people.test', name: 'Ann' });
  await makeContact(db, of, { email: 'bob@people.test' });
  await makeContact(db, of, { email: 'zoe@people.test' });
  await db`insert into suppressions ${db({ org_id: org, email: 'zoe@people.test', kind: 'bounced' })}`;
  const campaign = (await post(`${path}/send`, { when: 'now' })).headers.get('Location')!;
  const runner = campaignRunner(db, org);
  await runner.workFor(4);
  await db`update contacts set status = 'responded', responded_at = now() where id = ${ann}`;
  await makeResponse(db, of, { contact_id: ann, comment: 'Quick help' });
  const html = await (await get(campaign)).text();
  const cards = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  assert.match(cards, /Response rate 50% Sent 2 Delivered 2 Responded 1 50%/);
  assert.match(cards, /First responses All responses \S+ Ann .*Quick help 10/);
  assert.match(cards, /Not sent, by reason 1 contact Mailbox does not exist 1 Skipped/);
});

test('stopping asks first and shows the number of unsent emails', async () => {
  const { org, path, survey, get, post } = await scene();
  await db`insert into contacts (org_id, survey_id, email, token) values (${org}, ${survey}, 'ann@people.test', ${`t-${survey}`})`;
  const campaign = (await post(`${path}/send`, { when: 'now' })).headers.get('Location')!;
  assert.match(await (await get(`${campaign}/stop`)).text(), /cancels 1 unsent email/);
  await post(`${campaign}/stop`);
  assert.match(await (await get(campaign)).text(), /Stopped/);
  assert.equal((await post(`${campaign}/resume`)).status, 409);
});

test('a scheduled campaign shows its size', async () => {
  const { org, path, survey, get, post } = await scene();
  await makeContacts(db, { orgId: org, surveyId: survey }, { count: 3 });
  await db`insert into suppressions (org_id, email, kind)
           select org_id, email, 'bounced' from contacts where survey_id = ${survey} order by email limit 1`;
  const made = await post(`${path}/send`, { when: 'at', send_at: nextYear() });
  const campaign = made.headers.get('Location')!;
  const waits = /is-news">Waiting<\/dt>\s*<dd>2</;
  assert.match(await (await get(campaign)).text(), waits);
  assert.match(await (await get(`${campaign}/stop`)).text(), /cancels 2 unsent emails\. You/);
  await post(`${campaign}/stop`);
  assert.match(await (await get(`${path}/send`)).text(), /Stopped before it started/);
  assert.deepEqual([...(await db`select from mail_usage where org_id = ${org} and used <> 0`)], []);
});

test('rejects invalid times and paces and keeps the input', async () => {
  const { path, post } = await scene();
  await post(`${path}/contacts`, { email: 'ann@people.test' });
  for (const form of [
    { when: 'at', send_at: '2020-01-01T09:00', per_hour: '60' },
    { when: 'at', send_at: '', per_hour: '60' },
    { when: 'at', send_at: '2099-01-01T24:00', per_hour: '60' },
    { when: 'now', per_hour: '0' },
  ]) {
    const answer = await post(`${path}/send`, form);
    assert.equal(answer.status, 422);
    assert.match(await answer.text(), new RegExp(`value="${form.per_hour}"`));
  }
});

test('the review shows the email of the chosen recipient', async () => {
  const { org, survey, path, get } = await scene('viewer');
  const contact = { org_id: org, survey_id: survey };
  const people = ['amy', 'bob', 'bobby', 'zoe'].map((name) => `${name}@people.test`);
  const ids = new Map<string, string>();
  for (const email of people) ids.set(email, await makeContact(db, contact, { email }));
  await db`insert into suppressions ${db({ org_id: org, email: 'zoe@people.test', kind: 'bounced' })}`;
  const shown = async (recipient: string) => {
    const html = await (await get(`${path}/send?${new URLSearchParams({ recipient })}`)).text();
    const [, id] = /<iframe src="[^"]*\/mail\/([0-9a-f-]+)"/.exec(html) ?? [];
    return { id, text: html.replaceAll(/<[^>]*>/g, '') };
  };
  assert.equal((await shown('')).id, ids.get('amy@people.test'));
  const bob = await shown('BOB');
  assert.equal(bob.id, ids.get('bob@people.test'));
  assert.match(bob.text, /Also matching:bobby@people\.test/);
  assert.equal((await shown('bobby@people.test')).id, ids.get('bobby@people.test'));
  const zoe = await shown('zoe');
  assert.equal(zoe.id, ids.get('amy@people.test'));
  assert.match(zoe.text, /zoe@people\.test won’t get this email: email to this address bounced/);
  assert.match((await shown('%')).text, /No recipient matches “%”/);
});

test('times are in the time zone of the organization', async () => {
  const { path, get, post, survey } = await scene('owner', { time_zone: 'Asia/Tokyo' });
  const answer = await post(`${path}/send`, { when: 'at', send_at: nextYear() });
  assert.equal(answer.status, 303);
  const [campaign] = await db<{ send_at: Date; status: string }[]>`
    select send_at, status from campaigns where survey_id = ${survey}`;
  assert.equal(campaign?.status, 'scheduled');
  assert.equal(campaign?.send_at.toISOString().slice(11, 16), '00:30');
  const shown = await (await get(answer.headers.get('Location')!)).text();
  assert.match(shown, /00:30 UTC<\/time>, at 09:30 in Asia\/Tokyo\./);
});

const nextYear = () =>
  `${new Date(Date.now() + 200 * 86_400_000).toISOString().slice(0, 10)}T09:30`;

test('the review shows eight skipped contacts and the quota left', async () => {
  const { org, path, survey, get } = await scene('editor', { monthly_send_limit: 5 });
  const contacts = await makeContacts(db, { orgId: org, surveyId: survey }, { count: 12 });
  const blocked = contacts.slice(2).map(({ email }) => email);
  await db`
    insert into suppressions (org_id, email, kind) select ${org}, unnest(${blocked}::text[]), 'unsubscribed'`;
  const page = await (await get(`${path}/send`)).text();
  assert.equal(blocked.filter((email) => page.includes(email)).length, 8);
  assert.match(page, /0 of 5 emails used; 3 left after this send/);
  assert.doesNotMatch(page, /Already received or answered/);
});

test('shows when a campaign exceeds the monthly limit', async () => {
  const { org, path, survey, get, post } = await scene('editor', { monthly_send_limit: 0 });
  await db`insert into contacts (org_id, survey_id, email, token) values (${org}, ${survey}, 'ann@people.test', ${`u-${survey}`})`;
  assert.match(await (await get(`${path}/send`)).text(), /nothing would be sent/);
  const answer = await post(`${path}/send`, { when: 'now' });
  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /monthly send limit of 0/);
});

test('a viewer cannot change contacts and campaigns', async () => {
  const { path, get, post } = await scene('viewer');
  assert.equal((await get(`${path}/contacts`)).status, 200);
  assert.equal((await get(`${path}/send`)).status, 200);
  for (const [place, form] of [
    ['contacts', { email: 'ann@people.test' }],
    ['contacts/uploads', { list: 'ann@people.test' }],
    ['send', { when: 'now' }],
  ] as const) {
    assert.equal((await post(`${path}/${place}`, form)).status, 403);
  }
});

test('surveys and campaigns of others return 404', async () => {
  const [own, other] = [await scene(), await scene()];
  for (const place of ['contacts', 'send', `send/${own.survey}`, 'send/judgement.csv']) {
    assert.equal((await own.get(`${own.home}/surveys/${other.survey}/${place}`)).status, 404);
  }
});
