import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { changeSegment, createSegment, deleteSegment } from '../../src/people/segments.ts';
import { campaignRunner } from '../support/make/campaigns.ts';
import { makeContact, makeOrganization, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();

/** Three people on the Pro plan, of whom one was asked and one has unsubscribed, and one on another plan. */
async function scene() {
  const org = await makeOrganization(db);
  const survey = await makeSurvey(db, org, {
    name: 'Customer loyalty',
    question_text: 'Hi {{name}}, how is {{properties.plan}}?',
  });
  const addPerson = async (email: string, name: string, plan: string) => {
    const properties = db.json({ plan });
    await db`insert into people ${db({ org_id: org, email, name, properties } as never)}`;
  };
  await addPerson('ann@people.test', 'Ann', 'pro');
  await addPerson('bob@people.test', 'Bob', 'pro');
  await addPerson('cid@people.test', 'Cid', 'pro');
  await addPerson('dan@people.test', 'Dan', 'free');
  const asked = { email: 'bob@people.test', status: 'sent', sent_at: new Date() };
  await makeContact(db, { org_id: org, survey_id: survey }, asked);
  await db`insert into suppressions ${db({ org_id: org, email: 'cid@people.test', kind: 'unsubscribed' })}`;
  const by = commandWriter(org);
  const filter = { all: [{ field: 'property.plan', op: 'is' as const, value: 'pro' }] };
  const segment = await createSegment(db, by, { name: 'Pro & paying', filter });
  const browser = await memberBrowser(db, { org, role: 'editor' });
  return { ...browser, org, survey, segment, by, path: `${browser.home}/surveys/${survey}` };
}

const read = async (answer: Promise<Response>) => await (await answer).text();
const hidden = (html: string, name: string) =>
  new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1];
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

test('a campaign to a segment is reviewed, sent and shown', async () => {
  const { org, path, segment, get, post } = await scene();
  const own = await read(get(`${path}/send`));
  assert.match(own, /<option value="" selected[^>]*>Pending contacts<.*Everyone in People/s);
  assert.match(textOf(own), /0 recipients/);

  const review = `${path}/send?audience=${segment.id}`;
  const html = await read(get(review));
  assert.match(textOf(html), /1 recipient The other 2 of 3 people in the audience are skipped/);
  assert.match(textOf(html), /Already received or answered this survey.*Unsubscribed/);
  const [, mail] = /<iframe src="([^"]+)"/.exec(html)!;
  assert.match(textOf(await read(get(mail!))), /Hi Ann, how is pro\?/);
  const [, csv] = /href="([^"]+judgement\.csv[^"]*)"/.exec(html)!;
  assert.match(
    await read(get(csv!)),
    /ann@people\.test,true,,,\r\nbob@people\.test,false,.*already_sent/,
  );
  const found = textOf(await read(get(`${review}&recipient=cid`)));
  assert.match(found, /cid@people\.test won’t get this email: this address has unsubscribed/);

  const form = { audience: hidden(html, 'audience')!, version: hidden(html, 'version')! };
  const sent = await post(`${path}/send`, { when: 'now', ...form });
  const campaign = sent.headers.get('Location')!;
  const runner = campaignRunner(db, org);
  await runner.workFor(4);
  assert.deepEqual(
    runner.mailed.map(({ email }) => email),
    ['ann@people.test'],
  );
  assert.match(await read(get(campaign)), /Audience: <bdi>Segment: Pro &amp; paying<\/bdi>/);
  const [act] = await db`
    select details from audit_events where org_id = ${org} and act = 'campaign.created'`;
  assert.equal(act!['details']['audience'], 'segment Pro & paying');
});

test('everyone in the directory can be asked at a later time', async () => {
  const { path, get, post } = await scene();
  const html = textOf(await read(get(`${path}/send?audience=people`)));
  assert.match(html, /2 recipients The other 2 of 4 people in the audience are skipped/);
  const send_at = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  const sent = await post(`${path}/send`, { when: 'at', send_at, audience: 'people' });
  const campaign = textOf(await read(get(sent.headers.get('Location')!)));
  assert.match(campaign, /Audience: Everyone in People.*Skipped 2 Waiting 2/);
  assert.match(campaign, /Recipients are chosen when it starts/);
});

test('a send to a deleted segment asks for another audience', async () => {
  const { org, path, segment, by, get, post } = await scene();
  await deleteSegment(db, by, segment.id);
  assert.equal((await get(`${path}/send?audience=${segment.id}`)).status, 404);
  const start = { when: 'at', send_at: '2099-12-01T09:30', per_hour: '40' };
  const refused = await post(`${path}/send`, { ...start, audience: segment.id });
  assert.equal(refused.status, 422);
  const html = await refused.text();
  assert.match(textOf(html), /This segment was deleted. Choose another audience./);
  assert.match(html, /<option value="[^"]+" selected[^>]*>A deleted segment</);
  assert.doesNotMatch(html, /Send<\/button>/);
  assert.equal((await db`select from campaigns where org_id = ${org}`).length, 0);

  const [shown = ''] = /<form method="get"[^>]*>.*?<\/form>/s.exec(html) ?? [];
  const kept = Object.keys(start).map((name) => [name, hidden(shown, name) ?? '']);
  const query = new URLSearchParams({ ...Object.fromEntries(kept), audience: 'people' });
  const again = await read(get(`${path}/send?${query}`));
  assert.match(again, /name="when" value="at" checked/);
  assert.match(again, /name="send_at"[^>]*value="2099-12-01T09:30"/);
  assert.match(again, /name="per_hour"[^>]*value="40"/);
});

test('a segment that changed after its review is not sent to', async () => {
  const { org, path, segment, by, get, post } = await scene();
  const send = async (html: string) =>
    await post(`${path}/send`, { audience: segment.id, version: hidden(html, 'version')! });
  const html = await read(get(`${path}/send?audience=${segment.id}`));
  const filter = { all: [{ field: 'property.plan', op: 'is' as const, value: 'free' }] };
  await changeSegment(db, by, { id: segment.id, name: 'Free, dan@people.test', filter });
  const refused = await send(html);
  assert.equal(refused.status, 422);
  const again = await refused.text();
  assert.match(textOf(again), /Nothing was sent, because somebody else changed this segment/);
  assert.match(textOf(again), /1 recipient All 1 person .*dan@people\.test/);
  assert.equal((await db`select from campaigns where org_id = ${org}`).length, 0);
  assert.match(again, /Send<\/button>/);
  assert.equal((await send(again)).status, 303);
  const [act] = await db`
    select details from audit_events where org_id = ${org} and act = 'campaign.created'`;
  assert.equal(act!['details']['audience'], 'segment Free, d…@people.test');
});

test('an empty audience cannot be sent to', async () => {
  const { path, by, get } = await scene();
  const filter = { all: [{ field: 'property.plan', op: 'is' as const, value: 'none' }] };
  const { id } = await createSegment(db, by, { name: 'Nobody', filter });
  const html = await read(get(`${path}/send?audience=${id}`));
  assert.match(textOf(html), /0 recipients Nobody matches this audience\./);
  assert.match(textOf(html), /Nobody in this audience can be emailed\./);
  assert.doesNotMatch(html, /Send<\/button>/);
});
