import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiDocument } from '../../src/api.ts';
import { addressPattern } from '../../src/lib/smtp/address.ts';
import { addDeliveries } from '../support/make/delivery-rows.ts';
import {
  makeClient,
  makeContact,
  makeResponse,
  makeSurvey,
  makeWebhook,
} from '../support/make/rows.ts';
import { testSettings } from '../support/make/settings.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Receipt = {
  id: string;
  address_hash: string;
  scores: string;
  counts: Record<string, number>;
  allowed_at: string | null;
};

/** An organization with one survey and an API client. */
async function scene() {
  const client = await makeClient(db);
  const survey_id = await makeSurvey(db, client.id);
  const of = { org_id: client.id, survey_id };
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { ...client.write, 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await app.request(`/api${path}`, { method, headers, ...init });
    const text = await answer.text();
    const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    return { status: answer.status, json, data: json['data'] as Receipt };
  };
  const person = (over: Record<string, unknown> = {}) =>
    makeContact(db, of, { email: 'Ada@people.test', name: 'Ada Lovelace', ...over });
  const erase = (query = '') => call('DELETE', `/v1/people/ada%40people.test${query}`);
  return { ...client, of, call, person, erase };
}

test('erasure covers all surveys and keeps scores anonymous', async () => {
  const { id, of, person, erase, call } = await scene();
  const other = { ...of, survey_id: await makeSurvey(db, id) };
  const [first, second] = [await person(), await person({ survey_id: other.survey_id })];
  const stays = await makeContact(db, of, { email: 'bada@people.test' });
  const answer = await makeResponse(db, of, {
    contact_id: first,
    score: 3,
    category: 'detractor',
    comment: 'slow as treacle',
  });
  await makeResponse(db, other, { contact_id: second });
  await makeResponse(db, of, { contact_id: stays, comment: 'fine for bada@people.test' });

  const { status, data } = await erase();
  assert.equal(status, 200);
  assert.equal(data.scores, 'kept');
  assert.match(data.address_hash, /^[0-9a-f]{64}$/);
  assert.equal(data.counts['contacts'], 2);
  assert.equal(data.counts['responses'], 2);
  assert.equal(data.counts['comments'], 1);
  const rows = await db`
    select contact_id, comment, score from responses where org_id = ${id} and id = ${answer}`;
  assert.deepEqual([...rows], [{ contact_id: null, comment: null, score: 3 }]);
  assert.equal((await db`select from contacts where org_id = ${id}`).length, 1);
  const [left] = await db`select comment from responses where contact_id = ${stays}`;
  assert.equal(left?.['comment'], 'fine for bada@people.test');
  assert.equal((await call('GET', '/v1/people/ADA%40people.test')).status, 404);
  await assertTalliesHold(db);
});

test('erasure deletes scores on request and updates totals', async () => {
  const { id, of, person, erase } = await scene();
  await makeResponse(db, of, { contact_id: await person() });
  assert.equal((await erase('?scores=none')).status, 400);
  const { data } = await erase('?scores=delete');
  assert.equal(data.scores, 'deleted');
  assert.equal((await db`select from responses where org_id = ${id}`).length, 0);
  await assertTalliesHold(db);
});

test('erasure of an unknown address returns 404 and blocks nothing', async () => {
  const { id, erase } = await scene();
  assert.equal((await erase()).status, 404);
  assert.equal((await db`select from erasures where org_id = ${id}`).length, 0);
});

test('erasing again returns the same receipt', async () => {
  const { person, erase, call } = await scene();
  await person();
  const first = await erase();
  const again = await erase('?scores=delete');
  assert.equal(again.status, 200);
  assert.deepEqual(again.data, first.data);
  const listed = await call('GET', '/v1/erasures?email=ADA@people.test');
  assert.deepEqual(listed.json['data'], [first.data]);
  assert.deepEqual((await call('GET', '/v1/erasures?email=b@people.test')).json['data'], []);
  const other = await scene();
  assert.deepEqual((await other.call('GET', '/v1/erasures')).json['data'], []);
});

test('unblocked address can be added and erased again', async () => {
  const { id, of, person, erase, call } = await scene();
  await person();
  const { data } = await erase();
  const allowed = await call('POST', `/v1/erasures/${data.id}/allow`);
  assert.equal(allowed.status, 200);
  assert.notEqual(allowed.data.allowed_at, null);
  const again = await call('POST', `/v1/erasures/${data.id}/allow`);
  assert.deepEqual(again.data, allowed.data);
  const added = { survey_id: of.survey_id, email: 'ada@people.test' };
  assert.equal((await call('POST', '/v1/contacts', added)).status, 201);
  const second = await erase();
  assert.notEqual(second.data.id, data.id);
  const acts = await db`
    select act from audit_events where org_id = ${id} and act like 'person.%' order by at, id`;
  assert.deepEqual(
    acts.map(({ act }) => act),
    ['person.erased', 'person.allowed', 'person.erased'],
  );
});

test('erasure removes the excerpts of all responses', async () => {
  const { id, person, erase } = await scene();
  const webhook = await makeWebhook(db, id);
  for (const days of [40, 3, 0]) {
    const created_at = new Date(Date.now() - days * 86_400_000);
    const of = { org_id: id, survey_id: await makeSurvey(db, id) };
    const contact_id = await person(of);
    const response = await makeResponse(db, of, { contact_id, created_at, comment: 'treacle' });
    const body = JSON.stringify({ version: '1', responseId: response, comment: 'treacle' });
    const event = { org_id: id, webhook_id: webhook, event: 'detractor.detected', body };
    await addDeliveries(db, { ...event, status: 'delivered', created_at });
  }
  assert.equal((await erase()).data.counts['deliveries'], 3);
  const left = await db`select from deliveries where org_id = ${id} and body <> ''`;
  assert.equal(left.length, 0);
});

test('erased delivery loses its excerpt and cannot be redelivered', async () => {
  const { id, of, person, erase, call } = await scene();
  const webhook = await makeWebhook(db, id);
  const answer = await makeResponse(db, of, {
    contact_id: await person(),
    score: 1,
    category: 'detractor',
    comment: 'treacle',
  });
  const make = async (event: string, comment: string | null, status: string) => {
    const body = JSON.stringify({ version: '1', responseId: answer, comment });
    const of = { org_id: id, webhook_id: webhook, event, body };
    const [delivery] = await addDeliveries(db, { ...of, status, response_body: 'got treacle' });
    return delivery!;
  };
  const excerpt = await make('detractor.detected', 'treacle', 'pending');
  const delivered = await make('detractor.detected', 'treacle', 'delivered');
  const received = await make('response.received', null, 'delivered');
  assert.equal((await erase()).data.counts['deliveries'], 2);
  const left = await db`
    select id, status, body, response_body from deliveries
    where org_id = ${id} and erased_at is not null order by status`;
  assert.deepEqual(
    left.map((row) => ({ ...row })),
    [
      { id: delivered, status: 'delivered', body: '', response_body: null },
      { id: excerpt, status: 'skipped', body: '', response_body: null },
    ],
  );
  const path = '/api/webhooks/{id}/deliveries/{delivery_id}/redeliver';
  const { content } = apiDocument(testSettings).paths[path]!['post']!.responses[410]!;
  const shown = content!['application/json']!.example;
  const again = (which: string) =>
    call('POST', `/webhooks/${webhook}/deliveries/${which}/redeliver`);
  for (const which of [excerpt, delivered]) {
    const { status, json } = await again(which);
    assert.equal(status, 410);
    const { error, code } = json;
    assert.partialDeepStrictEqual(shown, { error, code }, 'the document shows this answer');
  }
  assert.equal((await again(received)).status, 202);
  const since = new Date(0).toISOString();
  const { json } = await call('POST', `/webhooks/${webhook}/replay`, { since });
  assert.deepEqual(json, { replayed: 0 });
});

test('concurrent erasures return the same receipt', async () => {
  const { id, person, erase } = await scene();
  await person();
  const [one, other] = await Promise.all([erase(), erase()]);
  assert.deepEqual([one.status, other.status], [200, 200]);
  assert.deepEqual(one.data, other.data);
  assert.equal((await db`select from erasures where org_id = ${id}`).length, 1);
});

test('erasure includes a contact that is being added', async () => {
  const { id, of, person, erase } = await scene();
  await person();
  const other = { ...of, survey_id: await makeSurvey(db, id) };
  let erasing: ReturnType<typeof erase> | undefined;
  await db.begin(async (tx) => {
    await tx`select hold_off_erasures(${id})`;
    await makeContact(tx, other, { email: 'ada@people.test' });
    erasing = erase();
    await untilLockWaits(db);
  });
  assert.equal((await erasing!).data.counts['contacts'], 2);
  assert.equal((await db`select from contacts where org_id = ${id}`).length, 0);
});

test('erasure redacts the address in other contacts', async () => {
  const { id, of, person, erase } = await scene();
  await person();
  const made = (name: string, properties: Record<string, unknown>) =>
    makeContact(db, of, { name, properties: db.json(properties as never) });
  await made('Bob', {
    referred_by: 'ADA@people.test',
    team: [{ lead: 'see\nada@people.test, or Carl' }],
    'ada@people.test': true,
  });
  await made('Carl (ada@people.test)', {});
  await made('Dan', { of: 'bada@people.test', by: 'ada@people.test.org' });
  const { data } = await erase();
  assert.equal(data.counts['properties'], 4, 'two contacts and their people');
  const people = await db`select name, properties from people where org_id = ${id} order by name`;
  const rows = await db`select name, properties from contacts where org_id = ${id} order by name`;
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      {
        name: 'Bob',
        properties: {
          referred_by: '[email]',
          team: [{ lead: 'see\n[email], or Carl' }],
          '[email]': true,
        },
      },
      { name: 'Carl ([email])', properties: {} },
      { name: 'Dan', properties: { of: 'bada@people.test', by: 'ada@people.test.org' } },
    ],
  );
  assert.deepEqual([...people], [...rows]);
});

test('erasure redacts the address in other responses', async () => {
  const { id, of, person, erase } = await scene();
  await person();
  const referred = { referred_by: 'ADA@people.test' };
  const bob = await makeContact(db, of, { properties: db.json(referred) });
  await makeResponse(db, of, { contact_id: bob, source: 'link', comment: 'Fine' });
  await db`update contacts set properties = '{}' where id = ${bob}`;
  const { data } = await erase();
  assert.equal(data.counts['properties'], 2, 'the response and the person');
  const rows = await db`select properties, comment from responses where contact_id = ${bob}`;
  assert.deepEqual([...rows], [{ properties: { referred_by: '[email]' }, comment: 'Fine' }]);
  const names = await db`
    select from responses where org_id = ${id} and properties::text like '%people.test%'`;
  assert.equal(names.length, 0);
});

test('erasure hides the address in segments, audiences and languages', async () => {
  const { id, of, person, erase, call } = await scene();
  await person();
  const filter = { all: [{ field: 'property.boss', op: 'is', value: 'Ada@people.test' }] };
  const segment = await call('POST', '/v1/segments', { name: 'Team of ada@people.test', filter });
  assert.equal(segment.status, 201);
  await call('PATCH', `/v1/surveys/${of.survey_id}`, {
    repeat: { every_days: 30, audience: { filter } },
  });
  await call('POST', `/v1/surveys/${of.survey_id}/campaigns`, { audience: { filter } });
  const odd = { properties: { language: 'ada@people.test' } };
  await call('PUT', '/v1/people/bob%40people.test', odd);
  await call('PUT', '/v1/people/bob%40people.test', { properties: {} });
  const stored = async () =>
    JSON.stringify(
      await db`
        select s.name, s.filter, v.repeat, g.audience, p.language
        from segments s
        join surveys v using (org_id)
        join campaigns g using (org_id)
        join people p using (org_id)
        where org_id = ${id} and p.email = 'bob@people.test'`,
    );
  assert.equal((await stored()).match(/ada@people\.test/gi)?.length, 5);
  assert.equal((await erase()).status, 200);
  const left = await stored();
  assert.doesNotMatch(left, /ada@/i);
  assert.equal(left.match(/\[email\]/g)?.length, 5);
});

test('Postgres and Node match addresses alike', async () => {
  for (const key of ["o'hara+x_1.%b@people.test", 'ada@xn--mller-kva.de', 'a{1}|b*@people.test']) {
    const [row] = await db`select address_pattern(${key}) as pattern`;
    assert.equal(row?.['pattern'], addressPattern(key));
    const [hidden] = await db`select hide_address(${`by <${key.toUpperCase()}>.`}, ${key}) as said`;
    assert.equal(hidden?.['said'], 'by <[email]>.');
  }
});
