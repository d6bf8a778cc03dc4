import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { type Db, one, type Sql } from '../../src/lib/db/db.ts';
import { savePeople } from '../../src/people/save.ts';
import { createSegment } from '../../src/people/segments.ts';
import {
  makeClient,
  makeOrganization,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = testApp(db);

const makeTag = async (sql: Sql, org_id: string) =>
  one(
    await sql<{ id: string }[]>`
      insert into tags ${sql({ org_id, name: 'VIP', color: '#aB12ef' })} returning id`,
  ).id;

const makeSegment = async (db: Db, orgId: string) =>
  (await createSegment(db, commandWriter(orgId), { name: 'Pro', filter: { all: [] } })).id;

const makePerson = async (db: Db, orgId: string) => {
  await savePeople(db, orgId, [{ email: 'ada@people.test', name: null, properties: {} }]);
  return 'ada@people.test';
};

const resources = [
  { name: 'survey', path: '/api/v1/surveys', make: makeSurvey, method: 'PATCH', field: 'name' },
  {
    name: 'webhook',
    path: '/api/webhooks',
    make: makeWebhook,
    method: 'PUT',
    field: 'description',
  },
  { name: 'tag', path: '/api/v1/tags', make: makeTag, method: 'PATCH', field: 'name' },
  { name: 'segment', path: '/api/v1/segments', make: makeSegment, method: 'PATCH', field: 'name' },
  { name: 'person', path: '/api/v1/people', make: makePerson, method: 'PUT', field: 'name' },
] as const;

for (const { name, path, make, method, field } of resources) {
  test(`changing a ${name} with an outdated ETag returns 412`, async () => {
    const { id: org, write } = await makeClient(db);
    const id = await make(db, org);
    const get = () => app.request(`${path}/${id}`, { headers: write });
    const change = (value: string, ifMatch?: string) =>
      app.request(`${path}/${id}`, {
        method,
        headers: {
          ...write,
          'Content-Type': 'application/json',
          ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
        },
        body: JSON.stringify({ [field]: value }),
      });
    const before = (await get()).headers.get('ETag')!;

    assert.equal((await change('Ann', before)).status, 200);
    const refused = await change('Bob', before);

    assert.equal(refused.status, 412);
    assert.partialDeepStrictEqual(await refused.json(), { code: 'precondition_failed' });
    const after = await get();
    assert.match(await after.text(), /Ann/);
    const now = after.headers.get('ETag')!;
    for (const ifMatch of [`"a.b", ${now}`, '*', undefined]) {
      const { status } = await change('Ann', ifMatch);
      assert.equal(status, 200, String(ifMatch));
    }
  });
}

test('an ETag stays valid after a new response', async () => {
  const { id: org, write } = await makeClient(db);
  const id = await makeSurvey(db, org);
  const path = `/api/v1/surveys/${id}`;
  const tagOf = async () => (await app.request(path, { headers: write })).headers.get('ETag')!;
  const before = await tagOf();
  await makeResponse(db, { org_id: org, survey_id: id });
  assert.notEqual(await tagOf(), before);
  const changed = await app.request(path, {
    method: 'PATCH',
    headers: { ...write, 'Content-Type': 'application/json', 'If-Match': before },
    body: '{"name":"New"}',
  });
  assert.equal(changed.status, 200);
});

const survey = {
  name: 'Spring',
  question_text: 'Happy?',
  type: 'nps',
  from_name: 'Ann',
  from_email: 'ann@acme.test',
  reply_to: 'ann@acme.test',
  language: 'en',
};
const webhook = { url: 'https://hooks.test/askback', events: 'response.received' };

const forms = [
  {
    name: 'survey',
    open: async (org: string) => `/surveys/${await makeSurvey(db, org, survey)}/edit`,
    fields: { ...survey, 'embed.position': 'corner' },
    theirs: ['question_text', 'Content?'],
    mine: ['name', 'Summer'],
  },
  {
    name: 'webhook',
    open: async (org: string) => `/webhooks/${await makeWebhook(db, org)}/edit`,
    fields: { ...webhook, description: 'CRM', retries: 'standard' },
    theirs: ['description', 'Help desk'],
    mine: ['retries', 'extended'],
  },
  {
    name: 'tag',
    open: async (org: string) => `/settings/tags/${await makeTag(db, org)}`,
    fields: { name: 'VIP', color: '#ab12ef' },
    theirs: ['name', 'Key account'],
    mine: ['color', '#000000'],
  },
  {
    name: 'organization',
    open: async () => '/settings/texts',
    fields: { postal_address: '1 Quay', mail_foot: '' },
    theirs: ['mail_foot', 'Hello from us'],
    mine: ['postal_address', '2 Quay'],
  },
] as const;

for (const { name, open, fields, theirs, mine } of forms) {
  test(`a form for a ${name} shows both versions when another member saved first`, async () => {
    const org = await makeOrganization(db);
    const { home, get, post } = await memberBrowser(db, { org });
    const path = `${home}${await open(org)}`;
    const version = await versionIn(await get(path));
    assert.equal((await post(path, { ...fields, [theirs[0]]: theirs[1], version })).status, 303);
    const typed = { ...fields, [mine[0]]: mine[1] };

    const refused = await post(path, { ...typed, version });

    assert.equal(refused.status, 422);
    const html = await refused.clone().text();
    assert.match(html, /somebody else changed this/);
    assert.ok(html.includes(`Current value: ${theirs[1]}`), html);
    assert.ok(html.includes(mine[1]));
    assert.ok((await (await get(path)).text()).includes(theirs[1]));
    const again = { ...typed, version: await versionIn(refused) };
    assert.equal((await post(path, again)).status, 303);
    assert.ok(!(await (await get(path)).text()).includes(theirs[1]));
  });
}

const versionIn = async (page: Response) =>
  /name="version" value="([^"]+)"/.exec(await page.text())![1]!;
