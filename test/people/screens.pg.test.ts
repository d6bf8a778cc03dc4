import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeContact, makeOrganization, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function people(role: 'viewer' | 'editor' | 'owner' = 'editor') {
  const org = await makeOrganization(db);
  const of = { org_id: org, survey_id: await makeSurvey(db, org) };
  const browser = await memberBrowser(db, { app, org, role });
  const path = `${browser.home}/people`;
  const page = async (rest = '') => {
    const answer = await browser.get(`${path}${rest}`);
    assert.equal(answer.status, 200, rest);
    return await answer.text();
  };
  const suppressed = async () => (await db`select from suppressions where org_id = ${org}`).length;
  return { org, of, ...browser, path, page, suppressed };
}

test('people screen has one row per address', async () => {
  const { org, of, page } = await people();
  const other = await makeSurvey(db, org);
  await makeContact(db, of, { email: 'Ada@people.test' });
  await makeContact(
    db,
    { org_id: org, survey_id: other },
    { email: 'ada@PEOPLE.test', name: 'Ada' },
  );
  await makeContact(db, of, { email: 'ben@people.test' });
  const all = await page();
  assert.match(all, /2 people/);
  assert.doesNotMatch(all, /ada@PEOPLE\.test/);
  assert.match(await page('?search=BEN%40'), /1 person\b/);
  assert.match(await page('?search=100%25'), /No people match/);
});

test('person screen shows every event and no address in its URL', async () => {
  const { of, path, page } = await people();
  const id = await makeContact(db, of, { email: 'ada@people.test' });
  const given = { contact_id: id, score: 3, category: 'detractor', comment: 'Slow <again>' };
  const response = await makeResponse(db, of, given);
  const visit = {
    org_id: of.org_id,
    method: 'GET',
    kind: 'view',
    contact_id: id,
    survey_id: of.survey_id,
  };
  await db`insert into link_visits ${db([visit, visit])}`;
  await db`
    insert into blocked_mails (org_id, survey_id, email, reason_code, reason)
    values (${of.org_id}, ${of.survey_id}, 'ADA@people.test', 'frequency', 'was asked a week ago')`;
  await db`insert into suppressions ${db({ org_id: of.org_id, email: 'ada@people.test', kind: 'bounced' })}`;
  const list = await page();
  const [person] = await db<{ id: string }[]>`
    select id from people where email_key = 'ada@people.test' and org_id = ${of.org_id}`;
  assert.match(list, new RegExp(`href="${path}/${person!.id}"`));
  const text = await page(`/${id}`);
  for (const shown of [/Added to the survey/, /Responded/, /Blocked/, /was asked a week ago/]) {
    assert.match(text, shown);
  }
  assert.match(text, new RegExp(`responses/${response}"><span class="chip is-detractor">3<`));
  assert.match(text, /Slow &lt;again&gt;/);
  assert.match(text, /2 times, last on <time datetime="/);
  for (const html of [list, text]) assert.match(html, /<span class="state is-poor">Bounced</);
});

test('editor blocks and unblocks an address', async () => {
  const { org, of, path, page, submit, suppressed } = await people();
  const id = await makeContact(db, of, { email: 'Ada@people.test' });
  assert.match(await (await submit(`${path}/${id}/suppress`)).text(), /gets no more surveys/);
  assert.equal(await suppressed(), 1);
  assert.match(await page(), /Blocked/);
  assert.match(await (await submit(`${path}/${id}/allow`)).text(), /Unblocked/);
  assert.equal(await suppressed(), 0);
  const acts = await db<{ act: string }[]>`
    select act from audit_events where org_id = ${org} order by at, id`;
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['suppression.added', 'suppression.removed'],
  );
});

/** A person who unsubscribed with a link. */
async function unsubscribedPerson(role: 'editor' | 'owner') {
  const scene = await people(role);
  const token = randomUUID();
  const id = await makeContact(db, scene.of, { email: 'Ada@people.test', token });
  await app.request(`/u/${token}`, { method: 'POST' });
  return { ...scene, id, person: `${scene.path}/${id}` };
}

test("editor cannot lift a person's unsubscribe", async () => {
  const { id, person, page, post, suppressed } = await unsubscribedPerson('editor');
  const text = await page(`/${id}`);
  assert.match(text, /Only they can undo it/);
  assert.doesNotMatch(text, /Unblock|Record consent/);
  assert.equal((await post(`${person}/allow`)).status, 403);
  assert.equal((await post(`${person}/consent`, { consent: 'by phone today' })).status, 403);
  assert.equal(await suppressed(), 1);
});

test("editor lifts a member's block but not the unsubscribe", async () => {
  const { id, person, page, post } = await unsubscribedPerson('editor');
  await post(`${person}/suppress`);
  assert.match(await page(`/${id}`), /Blocked by a member[\s\S]*Unsubscribed/);
  await post(`${person}/allow`);
  const left = await db`
    select kind, by_hand from suppressions where email = 'ada@people.test' and org_id = (
      select org_id from contacts where id = ${id})`;
  assert.deepEqual([...left], [{ kind: 'unsubscribed', by_hand: false }]);
});

test('owner records renewed consent', async () => {
  const { id, org, person, page, post, submit, suppressed } = await unsubscribedPerson('owner');
  assert.equal((await post(`${person}/consent`, { consent: ' by mail  ' })).status, 422);
  assert.equal(await suppressed(), 1);
  const consent = 'Asked for it by phone on 3 November';
  assert.match(await (await submit(`${person}/consent`, { consent })).text(), /Consent recorded/);
  assert.equal(await suppressed(), 0);
  const text = await page(`/${id}`);
  assert.match(text, /Consent renewed[\s\S]*Asked for it by phone[\s\S]*Unsubscribed/);
  const [act] = await db`select act, actor_kind from audit_events where org_id = ${org}`;
  assert.deepEqual({ ...act }, { act: 'consent.recorded', actor_kind: 'member' });
});

test('viewer changes nothing, and a stranger gets 404', async () => {
  const [mine, theirs] = [await people('viewer'), await people('owner')];
  const id = await makeContact(db, mine.of);
  assert.doesNotMatch(await mine.page(`/${id}`), /Suppress/);
  for (const act of ['suppress', 'allow', 'consent']) {
    assert.equal((await mine.post(`${mine.path}/${id}/${act}`)).status, 403);
    assert.equal((await theirs.post(`${theirs.path}/${id}/${act}`)).status, 404);
  }
  assert.equal((await theirs.get(`${theirs.path}/${id}`)).status, 404);
});

test('owner erases a person and unblocks the address', async () => {
  const { org, of, path, page, post, submit } = await people('owner');
  const id = await makeContact(db, of, { email: 'Ada@people.test' });
  await makeResponse(db, of, { contact_id: id, comment: 'slow' });
  assert.match(await page(`/${id}`), new RegExp(`href="${path}/${id}/erase"`));
  assert.match(await page(`/${id}/erase`), /<b><bdi>Ada@people\.test<\/bdi>/);
  const wrong = await post(`${path}/${id}/erase`, { email: 'ben@people.test', scores: 'delete' });
  assert.equal(wrong.status, 422);
  const asked = await wrong.text();
  assert.match(asked, /match this person/);
  assert.match(asked, /value="delete" checked/);

  const done = await submit(`${path}/${id}/erase`, { email: 'ada@PEOPLE.test', scores: 'keep' });
  const list = await done.text();
  assert.match(list, /Person erased/);
  assert.match(list, />\s*1 contact, 1 person in the directory, 1 response, 1 comment\s*</);
  assert.match(await page('/erased?email=ADA%40people.test'), /1 receipt\b/);
  assert.match(await page('/erased?email=ben%40people.test'), /No receipt for this address/);
  const [row] = await db<{ id: string }[]>`select id from erasures where org_id = ${org}`;
  assert.match(await (await submit(`${path}/erased/${row!.id}/allow`)).text(), /Unblocked/);
});

test('erasing asks for a recent proof', async () => {
  const { org, of, path, get } = await people('owner');
  const id = await makeContact(db, of);
  await db`
    update sessions set proved_at = now() - interval '2 hours'
    where member_id in (select member_id from memberships where org_id = ${org})`;
  const answer = await get(`${path}/${id}/erase`);
  assert.equal(answer.status, 303);
  assert.match(answer.headers.get('Location') ?? '', /^\/account\/prove\?next=/);
});

test('editor cannot erase a person', async () => {
  const { of, path, page, post, get } = await people('editor');
  const id = await makeContact(db, of, { email: 'ada@people.test' });
  assert.doesNotMatch(await page(`/${id}`), /Erase/);
  assert.equal((await post(`${path}/${id}/erase`, { email: 'ada@people.test' })).status, 403);
  assert.equal((await get(`${path}/erased`)).status, 403);
});
