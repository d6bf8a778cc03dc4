import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { importPeople } from '../../src/people/directory.ts';
import { savePeople } from '../../src/people/save.ts';
import { campaignRunner } from '../support/make/campaigns.ts';
import { makeClient, makeContact, makeSurvey, writeKeyOf } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Json = { data: Record<string, unknown>; error?: string; code?: string };
type List = { data: Record<string, unknown>[]; meta: { total: number } };

async function scene() {
  const client = await makeClient(db);
  const call = async <T = Json>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = client.write,
  ) => {
    const answer = await app.request(`/api/v1${path}`, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text.startsWith('{') ? JSON.parse(text) : text) as T };
  };
  const emails = async (query: string) =>
    (await call<List>('GET', `/people${query}`)).body.data.map(({ email }) => email);
  return { ...client, call, emails };
}

const person = (email: string, over: object = {}) => ({
  email,
  name: null,
  properties: {},
  ...over,
});

test('PUT adds a person and replaces properties, PATCH merges them', async () => {
  const { call } = await scene();
  const path = '/people/Ada%40people.test';
  assert.equal((await call('PATCH', path, { name: 'Ada' })).status, 404);
  const added = await call('PUT', path, {
    name: 'Ada',
    properties: { plan: 'pro', language: 'de' },
  });
  assert.equal(added.status, 200);
  assert.deepEqual(
    [added.body.data['email'], added.body.data['name'], added.body.data['language']],
    ['Ada@people.test', 'Ada', 'de'],
  );
  const replaced = await call('PUT', '/people/ada%40PEOPLE.test', { properties: { seats: 3 } });
  assert.deepEqual(replaced.body.data['properties'], { seats: 3 });
  assert.equal(replaced.body.data['id'], added.body.data['id']);
  assert.equal(replaced.body.data['name'], 'Ada');
  const merged = await call('PATCH', path, {
    properties: { plan: 'team' },
    name: null,
    language: 'pt-br',
  });
  assert.deepEqual(merged.body.data['properties'], { seats: 3, plan: 'team' });
  assert.deepEqual([merged.body.data['name'], merged.body.data['language']], [null, 'pt-BR']);
  const shown = await call('GET', path);
  assert.deepEqual(shown.body.data['properties'], { seats: 3, plan: 'team' });
  assert.deepEqual(shown.body.data['events'], []);
});

test('changing a person keeps its contacts', async () => {
  const { id, call } = await scene();
  const survey_id = await makeSurvey(db, id);
  const contact = await makeContact(db, { org_id: id, survey_id }, { email: 'ada@people.test' });
  await call('PUT', '/people/ada%40people.test', { name: 'New', properties: { plan: 'pro' } });
  const [row] = await db`select name, properties from contacts where id = ${contact}`;
  assert.deepEqual({ ...row }, { name: null, properties: {} });
});

test('changing a person rejects bad input and names the field', async () => {
  const { call, read } = await scene();
  const error = async (path: string, body: object, method = 'PUT') => {
    const answer = await call(method, `/people/${path}`, body);
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    return answer.body.error!;
  };
  assert.match(await error('nobody', {}), /^email: is not an email address/);
  assert.match(await error('a%40b.test', { name: 'x'.repeat(201) }), /^name: /);
  assert.match(await error('a%40b.test', { language: 'klingon' }), /^language: /);
  assert.match(await error('a%40b.test', { properties: [] }), /^properties: must be an object/);
  const big = (name: string) => ({ properties: { [name]: 'x'.repeat(9000) } });
  await call('PUT', '/people/a%40b.test', big('one'));
  assert.match(await error('a%40b.test', big('two'), 'PATCH'), /^properties: together/);
  assert.equal((await call('PUT', '/people/a%40b.test', {}, read)).status, 403);
});

test('people are listed by search, property, language and segment', async () => {
  const { id, call, emails } = await scene();
  await savePeople(db, id, [
    person('ada@people.test', {
      name: 'Ada',
      properties: { plan: 'pro', seats: 5 },
      language: 'de',
    }),
    person('ben@people.test', { name: 'Adam', properties: { plan: 'free', seats: '5' } }),
  ]);
  const other = await scene();
  await savePeople(db, other.id, [person('ada@other.test', { properties: { plan: 'pro' } })]);
  assert.deepEqual((await emails('?search=ADA')).sort(), ['ada@people.test', 'ben@people.test']);
  assert.deepEqual(await emails('?search=Adam'), ['ben@people.test']);
  assert.deepEqual(await emails('?property.plan=pro'), ['ada@people.test']);
  assert.equal((await emails('?property.seats=5')).length, 2);
  assert.deepEqual(await emails('?property.seats=5&property.plan=free'), ['ben@people.test']);
  assert.deepEqual(await emails('?language=de'), ['ada@people.test']);
  const filter = { all: [{ field: 'property.plan', op: 'is_not', value: 'pro' }] };
  const made = await call('POST', '/segments', { name: 'Others', filter });
  assert.equal(made.status, 201);
  const segment = made.body.data['id'] as string;
  assert.deepEqual(await emails(`?segment=${segment}`), ['ben@people.test']);
  assert.deepEqual(await emails(`?segment=${segment}&language=de`), []);
  assert.equal((await call('GET', `/people?segment=${randomUUID()}`)).status, 404);
  assert.equal((await other.call('GET', `/people?segment=${segment}`)).status, 404);
  const wrong = await call('GET', `/people?property.plan=${'x'.repeat(300)}`);
  assert.match(wrong.body.error!, /^property\.plan: must be at most 200/);
  const page = await call<List>('GET', '/people?limit=1');
  assert.deepEqual([page.body.data.length, page.body.meta.total], [1, 2]);
});

test('segments can be created, previewed, changed and deleted', async () => {
  const { id, read, call } = await scene();
  await savePeople(
    db,
    id,
    Array.from({ length: 12 }, (_, i) => person(`p${i}@people.test`, { properties: { n: i } })),
  );
  const filter = { all: [{ field: 'property.n', op: 'gt', value: 0 }] };
  const made = await call('POST', '/segments', { name: 'Some', filter });
  const path = `/segments/${made.body.data['id']}`;
  assert.deepEqual(made.body.data['filter'], {
    all: [{ field: 'property.n', op: 'gt', value: '0' }],
  });
  const preview = (await call('GET', `${path}/preview`)).body.data;
  assert.deepEqual([preview['count'], (preview['people'] as unknown[]).length], [11, 10]);
  const changed = await call('PATCH', path, { name: 'Everybody', filter: { all: [] } });
  assert.equal(changed.body.data['name'], 'Everybody');
  assert.equal((await call('GET', `${path}/preview`)).body.data['count'], 12);
  assert.equal((await call<List>('GET', '/segments')).body.meta.total, 1);
  const wrong = await call('POST', '/segments', {
    name: 'x',
    filter: { all: [{ field: 'plan', op: 'is', value: 'pro' }] },
  });
  assert.match(wrong.body.error!, /filter\.all\.0\.field: "plan" is not a field/);
  assert.equal((await call('POST', '/segments', { name: 'x', filter }, read)).status, 403);
  const other = await scene();
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    assert.equal((await other.call(method, path, method === 'PATCH' ? {} : undefined)).status, 404);
  }
  assert.equal((await call('DELETE', path)).status, 204);
  assert.equal((await call('GET', path)).status, 404);
});

test('a segment that a campaign or rounds use cannot be deleted', async () => {
  const { id, call } = await scene();
  const survey = await makeSurvey(db, id);
  const create = async () => {
    const { body } = await call('POST', '/segments', { name: 'All', filter: { all: [] } });
    return body.data['id'] as string;
  };
  const [mailed, repeated] = [await create(), await create()];
  const send_at = new Date(Date.now() + 3_600_000).toISOString();
  const campaign = await call('POST', `/surveys/${survey}/campaigns`, {
    send_at,
    audience: { segment_id: mailed },
  });
  assert.equal(campaign.status, 202);
  const repeat = { every_days: 90, audience: { segment_id: repeated } };
  await db`
    update surveys set repeat = ${db.json(repeat)}, repeat_since = now() where id = ${survey}`;
  for (const segment of [mailed, repeated]) {
    const refused = await call('DELETE', `/segments/${segment}`);
    assert.deepEqual([refused.status, refused.body.code], [409, 'segment_in_use']);
  }
  assert.equal((await call('POST', `/campaigns/${campaign.body.data['id']}/stop`)).status, 200);
  assert.equal((await call('DELETE', `/segments/${mailed}`)).status, 204);
});

test('an audience is added to the survey and emailed once', async () => {
  const { id: orgId, call } = await scene();
  const surveyId = await makeSurvey(db, orgId);
  const runner = campaignRunner(db, orgId);
  await savePeople(db, orgId, [
    person('ada@people.test', { name: 'Ada', properties: { plan: 'pro' } }),
    person('ben@people.test', { name: 'Ben', properties: { plan: 'pro' } }),
    person('cy@people.test', { properties: { plan: 'pro' } }),
    person('dan@people.test', { properties: { plan: 'free' } }),
  ]);
  const asked = { email: 'ben@people.test', status: 'sent', sent_at: new Date() };
  await makeContact(db, { org_id: orgId, survey_id: surveyId }, asked);
  await makeContact(db, { org_id: orgId, survey_id: surveyId }, { email: 'eve@people.test' });
  await db`insert into suppressions ${db({ org_id: orgId, email: 'cy@people.test', kind: 'bounced' })}`;
  const audience = { filter: { all: [{ field: 'property.plan', op: 'is', value: 'pro' }] } };
  const path = `/surveys/${surveyId}/campaigns`;

  const dry = await call('POST', `${path}?dry_run=true`, { audience });
  assert.equal(dry.status, 200, JSON.stringify(dry.body));
  const { total, remaining, duplicates, skipped } = dry.body.data;
  assert.deepEqual([total, remaining, duplicates], [3, 1, 2]);
  assert.deepEqual(
    (skipped as Record<string, unknown>[]).map(({ email, name, reason_code }) => [
      email,
      name,
      reason_code,
    ]),
    [
      ['ben@people.test', 'Ben', 'already_sent'],
      ['cy@people.test', null, 'bounced'],
    ],
  );
  assert.equal((await db`select from contacts where survey_id = ${surveyId}`).length, 2);

  const made = await call('POST', path, { audience });
  assert.equal(made.status, 202);
  assert.deepEqual(made.body.data['audience'], audience);
  await runner.workFor(3);
  assert.deepEqual(
    runner.mailed.map(({ email }) => email),
    ['ada@people.test'],
  );
  const contacts = await db<{ email: string; name: string | null; status: string }[]>`
    select email, name, status from contacts where survey_id = ${surveyId} order by email`;
  assert.deepEqual(
    contacts.map(({ email, status }) => [email, status]),
    [
      ['ada@people.test', 'sent'],
      ['ben@people.test', 'sent'],
      ['cy@people.test', 'pending'],
      ['eve@people.test', 'pending'],
    ],
  );
  const everybody = await call('POST', `${path}?dry_run=true`, { audience: 'people' });
  assert.deepEqual([everybody.body.data['total'], everybody.body.data['remaining']], [5, 2]);
  for (const wrong of ['all', { segment_id: randomUUID() }, { filter: {} }, {}]) {
    const refused = await call('POST', path, { audience: wrong });
    assert.equal(refused.status, 400);
    assert.match(refused.body.error!, /audience/);
  }
});

test('people are exported as CSV and JSON lines, and imported again', async () => {
  const { id, call } = await scene();
  await savePeople(db, id, [
    person('ada@people.test', { name: '=Ada', properties: { plan: 'pro' }, language: 'de' }),
    person('ben@people.test'),
  ]);
  const csv = (await call<string>('GET', '/people/export?property.plan=pro')).body;
  assert.match(csv, /^id,created_at,updated_at,email,name,language,properties\r\n/);
  assert.match(csv, /,ada@people\.test,'=Ada,de,"\{""plan"": ""pro""\}"\r\n$/);
  const target = await scene();
  const file = 'Email,Full name,Plan,Sprache\nada@people.test,Ada,pro,de\nADA@people.test,,team,\n';
  const counts = await importPeople({ db }, writeKeyOf(target.id), file);
  assert.deepEqual(counts, { people: 1, erased: 0 });
  const { data } = (await target.call<List>('GET', '/people')).body;
  const { name, properties, language } = data[0]!;
  assert.deepEqual([name, language], ['Ada', 'de']);
  assert.deepEqual(properties, { Plan: 'team', language: 'de' });
  await assert.rejects(
    importPeople({ db }, writeKeyOf(target.id), 'email\nnobody\n'),
    /line 2: "nobody" is not an email address/,
  );
});

test('an erased person cannot be added again', async () => {
  const { id, call } = await scene();
  await call('PUT', '/people/ada%40people.test', { name: 'Ada' });
  await call('PUT', '/people/ben%40people.test', { properties: { boss: 'ada@people.test' } });
  assert.equal((await call('DELETE', '/people/ada%40people.test')).status, 200);
  const refused = await call('PUT', '/people/ADA%40people.test', { name: 'Ada' });
  assert.deepEqual([refused.status, refused.body.code], [409, 'erased']);
  const counts = await importPeople({ db }, writeKeyOf(id), 'email\nada@people.test\nnew@p.test');
  assert.deepEqual(counts, { people: 1, erased: 1 });
  const left = await db<{ email: string; properties: unknown }[]>`
    select email, properties from people where org_id = ${id} order by email`;
  assert.deepEqual(
    [...left],
    [
      { email: 'ben@people.test', properties: { boss: '[email]' } },
      { email: 'new@p.test', properties: {} },
    ],
  );
  const audit = await db`select from audit_events where org_id = ${id} and target = 'person'
    and target_id not in (select id::text from people where org_id = ${id})
    and length(target_id) <> 64`;
  assert.equal(audit.length, 0, 'the id of the erased person is replaced');
});
