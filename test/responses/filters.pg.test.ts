import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../../src/lib/db/db.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

async function client() {
  const { id, read } = await makeClient(db);
  const survey = await makeSurvey(db, id);
  const { list, json: get, status } = reader(app, read);
  const contact = (properties: object) =>
    makeContact(db, { org_id: id, survey_id: survey }, { properties: json(db, properties) });
  const respond = (over: Record<string, unknown> = {}) =>
    makeResponse(db, { org_id: id, survey_id: survey }, over);
  const found = async (query: string) => {
    const { data, meta } = await list(`/api/v1/responses?${query}`);
    assert.equal(meta.total, data.length, query);
    return new Set(data.map((each) => each.id));
  };
  const counted = async (query: string) => {
    const { data } = await get<{ data: { total: number } }>(`/api/v1/nps?${query}`);
    const trend = await get<{ data: { total: number }[] }>(`/api/v1/nps/trend?${query}`);
    const sum = trend.data.reduce((before, { total }) => before + total, 0);
    assert.equal(sum, data.total, `the trend of ${query}`);
    return data.total;
  };
  return { id, survey, list, get, status, contact, respond, found, counted, headers: read };
}

const tagOf = async (orgId: string, name: string) => {
  const [row] = await db<{ id: string }[]>`
    insert into tags (org_id, name, color) values (${orgId}, ${name}, '#1F6FEB') returning id`;
  return row!.id;
};
const tag = (org_id: string, response_id: string, tag_id: string) =>
  db`insert into response_tags ${db({ org_id, response_id, tag_id })}`;
test('filters find responses on hold separately', async () => {
  const org = await client();
  const contact = await org.contact({ plan: 'pro' });
  const label = await tagOf(org.id, 'odd');
  const held = await org.respond({ contact_id: contact, held_reason: 'hidden_link' });
  await tag(org.id, held, label);
  for (const query of ['property.plan=pro', `tag=${label}`, `tag=${label}&property.plan=pro`]) {
    assert.deepEqual(await org.found(query), new Set(), query);
    assert.deepEqual(await org.found(`held=true&${query}`), new Set([held]), query);
    const { data } = await org.get<{ data: { held: number } }>(`/api/v1/nps?${query}`);
    assert.equal(data.held, 1, query);
  }
  const other = await tagOf(org.id, 'even');
  for (const query of ['property.plan=free', `tag=${other}`]) {
    assert.deepEqual(await org.found(`held=true&${query}`), new Set(), query);
  }
});

test('filters properties by exact text or JSON at the top level', async () => {
  const org = await client();
  const properties = {
    plan: 'Pro',
    seats: 12,
    beta: true,
    gone: null,
    'a.b': 'x',
    deep: { plan: 'Free' },
  };
  const mine = await org.respond({ contact_id: await org.contact(properties) });
  await org.respond({ contact_id: await org.contact({ plan: 'Free' }) });
  await org.respond();

  for (const query of [
    'plan=Pro',
    'seats=12',
    'beta=true',
    'gone=null',
    'a.b=x',
    'deep={"plan": "Free"}',
  ]) {
    assert.deepEqual(await org.found(`property.${encodeURI(query)}`), new Set([mine]), query);
    assert.equal(await org.counted(`property.${encodeURI(query)}`), 1, query);
  }
  for (const query of [
    'plan=pro',
    'plan=Pr',
    'Plan=Pro',
    'seats=12.0',
    'deep.plan=Free',
    'plan=Pro&property.seats=1',
  ]) {
    assert.deepEqual(await org.found(`property.${query}`), new Set(), query);
    assert.equal(await org.counted(`property.${query}`), 0, query);
  }
  assert.equal(await org.counted('property.plan=Pro&property.seats=12'), 1);
});

test('a response keeps its properties when its contact changes', async () => {
  const org = await client();
  const contact = await org.contact({ plan: 'free', country: 'DE' });
  const mine = await org.respond({ contact_id: contact });
  await db`update contacts set properties = '{"plan": "pro", "country": "DE"}' where id = ${contact}`;
  assert.deepEqual(await org.found('property.plan=pro'), new Set());
  assert.equal(await org.counted('property.plan=pro'), 0);
  assert.deepEqual(await org.found('property.plan=free&property.country=DE'), new Set([mine]));
  const { properties } = (
    await org.get<{ data: { properties: object } }>(`/api/v1/responses/${mine}`)
  ).data;
  assert.deepEqual(properties, { plan: 'free', country: 'DE' });
  const file = await app.request('/api/v1/responses/export?format=jsonl', { headers: org.headers });
  assert.deepEqual(JSON.parse(await file.text()).properties, properties);
});

test('an answer through a link is found by the properties of its contact', async () => {
  const org = await client();
  const contact = await org.contact({ plan: 'pro' });
  const [row] = await db<{ token: string }[]>`select token from contacts where id = ${contact}`;
  const answered = await app.request(`/s/${row!.token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ score: 9 }),
  });
  assert.equal(answered.status, 201);
  assert.equal(await org.counted('property.plan=pro'), 1);
  assert.equal((await org.found('property.plan=pro')).size, 1);
});

test('a filter by several tags requires all of them', async () => {
  const org = await client();
  const [one, two] = [await tagOf(org.id, 'one'), await tagOf(org.id, 'two')];
  const [both, first] = [await org.respond(), await org.respond()];
  await tag(org.id, both, one);
  await tag(org.id, both, two);
  await tag(org.id, first, one);
  assert.deepEqual(await org.found(`tag=${one}`), new Set([both, first]));
  assert.deepEqual(await org.found(`tag=${one}&tag=${two}`), new Set([both]));
  assert.equal(await org.counted(`tag=${two.toUpperCase()}`), 1);
  await db`delete from tags where id = ${two}`;
  assert.deepEqual(await org.found(`tag=${two}`), new Set());
  assert.equal(await org.status('/api/v1/responses?tag=urgent'), 400);
});

test('filters by a theme of the newest analysis', async () => {
  const org = await client();
  const read = (id: string, themes: string[]) => db`
    insert into analyses (org_id, response_id, sentiment, themes, provider)
    values (${org.id}, ${id}, 'negative', ${themes}, 'test')
    on conflict (org_id, response_id) do update set themes = excluded.themes`;
  const mine = await org.respond({ comment: 'Slow and costly', created_at: new Date() });
  const other = await org.respond({ comment: 'Costly' });
  const held = await org.respond({ comment: 'Slow', held_reason: 'hidden_field' });
  await read(mine, ['performance', 'price']);
  await read(other, ['price']);
  await read(held, ['performance']);
  assert.deepEqual(await org.found('theme=performance'), new Set([mine]));
  assert.deepEqual(await org.found('theme=%20Price'), new Set([mine, other]));
  assert.deepEqual(await org.found('theme=price&sentiment=negative'), new Set([mine, other]));
  assert.equal(await org.counted('theme=price'), 2);
  await read(mine, ['performance']);
  assert.deepEqual(await org.found('theme=price'), new Set([other]));
  await db`update responses set held_reason = null where org_id = ${org.id} and id = ${held}`;
  assert.deepEqual(await org.found('theme=performance'), new Set([mine, held]));
  await db`delete from analyses where org_id = ${org.id} and response_id = ${mine}`;
  assert.deepEqual(await org.found('theme=performance'), new Set([held]));
  assert.equal(await org.status(`/api/v1/responses?theme=${'x'.repeat(41)}`), 400);
});

test('a search combines with other filters', async () => {
  const org = await client();
  const [pro, free] = [await org.contact({ plan: 'pro' }), await org.contact({ plan: 'free' })];
  const mine = await org.respond({ contact_id: pro, comment: 'slow export' });
  await org.respond({ contact_id: free, comment: 'slow export' });
  assert.deepEqual(await org.found('search=export&property.plan=pro'), new Set([mine]));
  assert.deepEqual(await org.found('search=export&property.plan=pro&state=open'), new Set());
});

test("another organization's properties and tags match nothing", async () => {
  const [mine, theirs] = [await client(), await client()];
  const label = await tagOf(theirs.id, 'vip');
  const response = await theirs.respond({ contact_id: await theirs.contact({ plan: 'pro' }) });
  await tag(theirs.id, response, label);
  for (const query of ['property.plan=pro', `tag=${label}`]) {
    assert.deepEqual(await mine.found(query), new Set(), query);
    assert.equal(await mine.counted(query), 0, query);
  }
});
