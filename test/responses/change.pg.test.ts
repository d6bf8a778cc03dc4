import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  makeClient,
  makeContact,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read, write } = await makeClient(db);
  const survey = await makeSurvey(db, id);
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await app.request(`/api/v1${path}`, {
      method,
      headers: { ...write, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, ...(text && JSON.parse(text)) };
  };
  const respond = (over: Record<string, unknown> = {}) =>
    makeResponse(db, { org_id: id, survey_id: survey }, over);
  const acts = async () => {
    const rows = await db<{ act: string }[]>`
      select act from audit_events where org_id = ${id} order by at, id`;
    return rows.map(({ act }) => act);
  };
  return { id, survey, read, call, respond, acts, ...reader(app, read) };
}

async function member(orgId: string, email: string) {
  const [row] = await db<{ id: string }[]>`
    insert into members (email, name) values (${email}, 'Ann') returning id`;
  await db`insert into memberships (org_id, member_id, role) values (${orgId}, ${row!.id}, 'editor')`;
  return row!.id;
}

test('a response can be assigned, marked as done and reset', async () => {
  const org = await client();
  await member(org.id, 'Ann@loop.test');
  const id = await org.respond({ category: 'detractor', score: 1 });
  const change = async (body: object) => {
    const { status, data } = await org.call('PATCH', `/responses/${id}`, body);
    assert.equal(status, 200);
    return [data.state, data.owner];
  };
  assert.deepEqual(await change({ owner: 'ann@LOOP.test' }), ['open', 'Ann@loop.test']);
  assert.deepEqual(await change({ state: 'done' }), ['done', 'Ann@loop.test']);
  assert.deepEqual(await change({ state: null }), [null, 'Ann@loop.test']);
  assert.deepEqual(await change({ owner: null, state: 'open' }), ['open', null]);
  assert.deepEqual(await change({}), ['open', null]);
  assert.equal((await org.acts()).filter((act) => act === 'response.changed').length, 4);
});

test('the audit log has the old and new state, owner and tags', async () => {
  const org = await client();
  await member(org.id, 'Ann@audit.test');
  const id = await org.respond({ category: 'detractor', score: 1 });
  const [tag] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${org.id}, 'late', '#111111') returning id`;
  await org.call('PATCH', `/responses/${id}`, { owner: 'ann@audit.test', state: 'open' });
  await org.call('PATCH', `/responses/${id}`, { owner: 'ann@audit.test', state: 'done' });
  await org.call('PUT', `/responses/${id}/tags`, { tags: [tag!.id] });
  await org.call('PUT', `/responses/${id}/tags`, { tags: [tag!.id] });
  const rows = await db<{ details: { changes: object } }[]>`
    select details from audit_events where org_id = ${org.id} order by at, id`;
  assert.deepEqual(
    rows.map(({ details }) => details.changes),
    [
      { owner: { from: null, to: 'Ann' } },
      { state: { from: 'open', to: 'done' } },
      { tags: { from: [], to: ['late'] } },
    ],
  );
});

test('only members can own responses, and leaving unassigns them', async () => {
  const [org, other] = [await client(), await client()];
  const ann = await member(org.id, 'ann@leaves.test');
  const id = await org.respond();
  const taken = await org.call('PATCH', `/responses/${id}`, { owner: 'ann@leaves.test' });
  assert.equal(taken.data.owner, 'ann@leaves.test');
  await member(other.id, 'bob@other.test');
  const refused = await org.call('PATCH', `/responses/${id}`, { owner: 'bob@other.test' });
  assert.deepEqual([refused.status, refused.code], [400, 'unknown_member']);
  await db`delete from memberships where org_id = ${org.id} and member_id = ${ann}`;
  const { data } = await org.json<{ data: { owner: null } }>(`/api/v1/responses/${id}`);
  assert.equal(data.owner, null);
});

test('PUT tags replaces the tags of a response', async () => {
  const org = await client();
  const tags: string[] = [];
  for (const name of ['a', 'b', 'c'])
    tags.push((await org.call('POST', '/tags', { name })).data.id);
  const id = await org.respond();
  const put = async (ids: (string | undefined)[]) => {
    const { status, data, code } = await org.call('PUT', `/responses/${id}/tags`, { tags: ids });
    return status === 200 ? data.tags.map(({ name }: { name: string }) => name) : code;
  };
  assert.deepEqual(await put([tags[0], tags[1]]), ['a', 'b']);
  assert.deepEqual(await put([tags[1], tags[2], tags[2]]), ['b', 'c']);
  assert.equal(await put([tags[0], randomUUID()]), 'unknown_tag');
  const { data } = await org.list(`/api/v1/responses?tag=${tags[1]}`);
  assert.equal(data.length, 1);
  assert.deepEqual(await put([]), []);
  assert.equal((await org.list(`/api/v1/responses?tag=${tags[1]}`)).meta.total, 0);
});

test('the later of two concurrent PUTs of tags wins', async () => {
  const org = await client();
  const tags: string[] = [];
  for (const name of ['a', 'b']) tags.push((await org.call('POST', '/tags', { name })).data.id);
  const id = await org.respond();
  const put = (tag: string) => org.call('PUT', `/responses/${id}/tags`, { tags: [tag] });
  await put(tags[1]!);
  const { first, second } = await db.begin(async (other) => {
    await other`select from tags where id = ${tags[0]!} for update`;
    const first = put(tags[0]!);
    await untilLockWaits(db);
    const second = put(tags[1]!);
    await untilLockWaits(db, 2);
    return { first, second };
  });
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  const { data } = await org.call('GET', `/responses/${id}`);
  assert.deepEqual(
    data.tags.map(({ name }: { name: string }) => name),
    ['b'],
  );
});

test('notes have the name of their author, oldest first', async () => {
  const org = await client();
  const id = await org.respond();
  const first = await org.call('POST', `/responses/${id}/notes`, { text: ' Called. ' });
  assert.deepEqual([first.status, first.data.text, first.data.author], [201, 'Called.', 'write']);
  await org.call('POST', `/responses/${id}/notes`, { text: 'Happy now.' });
  const { data } = await org.json<{ data: { notes: { text: string }[] } }>(
    `/api/v1/responses/${id}`,
  );
  assert.deepEqual(
    data.notes.map(({ text }) => text),
    ['Called.', 'Happy now.'],
  );
  assert.equal((await org.call('POST', `/responses/${id}/notes`, { text: ' ' })).status, 400);
  assert.equal(
    (await org.call('POST', `/responses/${randomUUID()}/notes`, { text: 'x' })).status,
    404,
  );
});

test('a response has at most 200 notes, also under concurrency', async () => {
  const org = await client();
  const id = await org.respond();
  await db`
    insert into response_notes (org_id, response_id, text, author, author_kind)
    select ${org.id}, ${id}, 'Called.', 'write', 'key' from generate_series(1, 195)`;
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => org.call('POST', `/responses/${id}/notes`, { text: 'x' })),
  );
  const said = answers.map(({ status, code }) => `${status} ${code ?? ''}`);
  assert.deepEqual(said.filter((one) => one !== '201 ').length, 5);
  assert.ok(said.includes('400 too_many_notes'));
  const { data } = await org.json<{ data: { notes: object[] } }>(`/api/v1/responses/${id}`);
  assert.equal(data.notes.length, 200);
  const other = await org.call('POST', `/responses/${await org.respond()}/notes`, { text: 'x' });
  assert.equal(other.status, 201);
});

test('a replaced response on hold keeps its tags and notes', async () => {
  const org = await client();
  const of = { org_id: org.id, survey_id: org.survey };
  const contact = await makeContact(db, of, { token: 'replaced-by-a-person' });
  const held = await org.respond({ contact_id: contact, held_reason: 'hidden_link' });
  const tag = (await org.call('POST', '/tags', { name: 'odd' })).data.id;
  await org.call('PUT', `/responses/${held}/tags`, { tags: [tag] });
  await org.call('POST', `/responses/${held}/notes`, { text: 'a machine?' });
  const answered = await app.request('/s/replaced-by-a-person', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9 }),
  });
  assert.equal(answered.status, 201);
  const { data } = await org.list(`/api/v1/responses?tag=${tag}`);
  assert.equal(data.length, 1);
  assert.notEqual(data[0]!.id, held);
});

test('a released response counts, and its event is delivered', async () => {
  const org = await client();
  await makeWebhook(db, org.id);
  const id = await org.respond({ held_reason: 'hidden_link' });
  const released = await org.call('POST', `/responses/${id}/release`);
  assert.deepEqual([released.status, released.data.held], [200, false]);
  assert.equal((await org.list('/api/v1/responses')).meta.total, 1);
  const again = await org.call('POST', `/responses/${id}/release`);
  assert.deepEqual([again.status, again.code], [409, 'not_held']);
  const deliveries = await db`select from deliveries where org_id = ${org.id}`;
  assert.equal(deliveries.length, 1);
  assert.deepEqual(await org.acts(), ['response.released']);
});

test('a deleted response is gone everywhere', async () => {
  const org = await client();
  const contact = await makeContact(db, { org_id: org.id, survey_id: org.survey });
  const id = await org.respond({ contact_id: contact, comment: 'x' });
  assert.equal((await org.call('DELETE', `/responses/${id}`)).status, 204);
  assert.equal(await org.status(`/api/v1/responses/${id}`), 404);
  const { data } = await org.json<{ data: { total: number } }>('/api/v1/nps');
  assert.equal(data.total, 0);
  assert.equal((await org.call('DELETE', `/responses/${id}`)).status, 404);
});

test('a response takes no tag of another organization', async () => {
  const [mine, theirs] = [await client(), await client()];
  const tag = (await theirs.call('POST', '/tags', { name: 'theirs' })).data.id;
  const own = await mine.respond();
  const stolen = await mine.call('PUT', `/responses/${own}/tags`, { tags: [tag] });
  assert.deepEqual([stolen.status, stolen.code], [400, 'unknown_tag']);
  assert.deepEqual(await mine.acts(), []);
});
