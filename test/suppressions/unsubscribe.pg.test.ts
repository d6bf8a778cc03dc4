import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { one } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

/** An organization with one contact and its link. */
async function subscriber(over: Record<string, unknown> = {}) {
  const client = await makeClient(db, { name: 'Harbour & Pine' });
  const survey_id = await makeSurvey(db, client.id);
  const token = randomUUID();
  const email = `Ann-${token}@people.test`;
  const of = { org_id: client.id, survey_id };
  const contact = await makeContact(db, of, { token, email, ...over });
  const ask = (method: string, path = '', headers: Record<string, string> = {}, body?: string) =>
    app.request(`/u/${token}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  return { client, of, contact, token, email, ask };
}

const json = { Accept: 'application/json' };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

const kinds = async (orgId: string) =>
  (
    await db<{ email: string; kind: string }[]>`
      select email, kind from suppressions where org_id = ${orgId} order by kind`
  ).map(({ email, kind }) => [email, kind]);

const statusOf = async (id: string) =>
  one(await db<{ status: string }[]>`select status from contacts where id = ${id}`).status;

test('opening an unsubscribe link changes nothing', async () => {
  const { ask, client, contact, email } = await subscriber();
  const before = await db`select * from contacts where id = ${contact}`;
  for (const method of ['GET', 'HEAD'] as const) {
    for (const path of ['', '/undo']) assert.equal((await ask(method, path)).status, 200);
  }
  const html = await (await ask('GET')).text();
  assert.ok(html.includes(email) && html.includes('Harbour &amp; Pine'), html);
  assert.deepEqual(await kinds(client.id), []);
  assert.deepEqual(await db`select * from contacts where id = ${contact}`, before);
});

test('unsubscribe button covers the whole organization', async () => {
  const { ask, client, contact, email, of } = await subscriber();
  const survey_id = await makeSurvey(db, client.id);
  const other = await makeContact(
    db,
    { org_id: of.org_id, survey_id },
    { email: email.toUpperCase() },
  );
  const answer = await ask('POST', '', form, '');
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /You are unsubscribed/);
  assert.deepEqual(await kinds(client.id), [[email.toLowerCase(), 'unsubscribed']]);
  assert.equal(await statusOf(contact), 'unsubscribed');
  assert.equal(await statusOf(other), 'unsubscribed');
});

test('one-click unsubscribe answers 200 without redirect or cookie', async () => {
  const { ask, client } = await subscriber();
  const answer = await ask('POST', '', form, 'List-Unsubscribe=One-Click');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('Location'), null);
  assert.equal(answer.headers.get('Set-Cookie'), null);
  assert.equal((await kinds(client.id)).length, 1);
});

test('unsubscribing several times counts once', async () => {
  const { ask, client } = await subscriber();
  await Promise.all([ask('POST'), ask('POST'), ask('POST')]);
  assert.equal((await kinds(client.id)).length, 1);
  assert.match(await (await ask('GET')).text(), /You are unsubscribed/);
});

test("undoing an unsubscribe restores the contact's status", async () => {
  const { ask, client, contact } = await subscriber({ status: 'sent', sent_at: new Date() });
  await ask('POST');
  const undone = await ask('POST', '/undo');
  assert.match(await undone.text(), /You are subscribed again/);
  assert.deepEqual(await kinds(client.id), []);
  assert.equal(await statusOf(contact), 'sent');
});

test('undoing an unsubscribe keeps a bounce', async () => {
  const { ask, client, contact, email } = await subscriber();
  await db`insert into suppressions ${db({ org_id: client.id, email: email.toLowerCase(), kind: 'bounced' })}`;
  await ask('POST');
  await ask('POST', '/undo');
  assert.deepEqual(await kinds(client.id), [[email.toLowerCase(), 'bounced']]);
  assert.equal(await statusOf(contact), 'bounced');
});

test('answered contact that unsubscribes stays answered', async () => {
  const { ask, contact } = await subscriber({ status: 'responded', responded_at: new Date() });
  await ask('POST');
  assert.equal(await statusOf(contact), 'responded');
});

test('unsubscribe page answers JSON on request', async () => {
  const { ask, email } = await subscriber();
  const said = async (method: string, path = '') => (await ask(method, path, json)).json();
  assert.deepEqual(await said('GET'), { data: { email, unsubscribed: false } });
  assert.deepEqual(await said('POST'), { data: { email, unsubscribed: true } });
  assert.deepEqual(await said('POST', '/undo'), { data: { email, unsubscribed: false } });
});

test('unknown unsubscribe link is a 404 page', async () => {
  const page = await app.request('/u/unknown');
  assert.equal(page.status, 404);
  assert.match(page.headers.get('Content-Type') ?? '', /html/);
  const program = await app.request('/u/unknown', { method: 'POST', headers: json });
  assert.equal(program.status, 404);
  assert.equal(((await program.json()) as { code: string }).code, 'not_found');
});

test('suppression API lists addresses and lifts a bounce', async () => {
  const { client, contact, email } = await subscriber({ status: 'bounced' });
  await db`insert into suppressions ${db({ org_id: client.id, email: email.toLowerCase(), kind: 'bounced' })}`;
  const { list } = reader(app, client.read);
  const { data, meta } = await list(`/api/v1/suppressions?email=${encodeURIComponent(email)}`);
  const [found] = data as { id: string; created_at: string }[];
  assert.partialDeepStrictEqual(found, { email: email.toLowerCase(), kind: 'bounced' });
  assert.equal(meta.total, 1);

  const lift = (headers: Record<string, string>) =>
    app.request(`/api/v1/suppressions/${found?.id}`, { method: 'DELETE', headers });
  assert.equal((await lift(client.read)).status, 403);
  assert.equal((await lift((await makeClient(db)).write)).status, 404);
  assert.equal(await statusOf(contact), 'bounced');
  assert.equal((await lift(client.write)).status, 204);
  assert.equal((await lift(client.write)).status, 404);
  assert.equal(await statusOf(contact), 'pending');
});

test("API key cannot lift a person's unsubscribe", async () => {
  const { ask, client, contact } = await subscriber();
  await ask('POST');
  const [row] = await db<{ id: string }[]>`
    select id from suppressions where org_id = ${client.id}`;
  const path = `/api/v1/suppressions/${row!.id}`;
  const refused = await app.request(path, { method: 'DELETE', headers: client.write });
  assert.equal(refused.status, 403);
  assert.equal(((await refused.json()) as { code: string }).code, 'own_unsubscribe');
  assert.equal(await statusOf(contact), 'unsubscribed');
});

test('timeline keeps an undone unsubscribe', async () => {
  const { ask, client, email } = await subscriber();
  await ask('POST');
  await ask('POST', '/undo');
  const { json: read } = reader(app, client.read);
  const { data } = await read<{ data: { events: { what: string; reason_code: string }[] } }>(
    `/api/v1/people/${encodeURIComponent(email)}`,
  );
  assert.deepEqual(
    data.events.map(({ what, reason_code }) => [what, reason_code]),
    [
      ['added', null],
      ['unsubscribed', null],
      ['allowed', 'own_wish'],
    ],
  );
});

test("undoing an unsubscribe keeps a member's block", async () => {
  const { ask, client, contact, email } = await subscriber();
  const address = { org_id: client.id, email: email.toLowerCase() };
  await db`insert into suppressions ${db({ ...address, kind: 'unsubscribed', by_hand: true })}`;
  await ask('POST');
  assert.equal((await kinds(client.id)).length, 2);
  await ask('POST', '/undo');
  assert.equal((await kinds(client.id)).length, 1);
  assert.equal(await statusOf(contact), 'unsubscribed');
});

test('undoing an unsubscribe affects one organization', async () => {
  const email = 'ann@people.test';
  const [here, there] = [await subscriber({ email }), await subscriber({ email })];
  await here.ask('POST');
  await there.ask('POST');
  await here.ask('POST', '/undo');
  assert.deepEqual(await kinds(here.client.id), []);
  assert.equal((await kinds(there.client.id)).length, 1);
});
