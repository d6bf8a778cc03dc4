import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxNameLength } from '../../src/limits.ts';
import { makeClient, makeContact, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { untilLockWaits } from '../support/probe/locks.ts';
import { reader } from '../support/probe/read.ts';

const { db } = await testDatabase();
const app = testApp(db);

type Saved = { id: string; email: string; name: string | null; status: string; created_at: string };

async function client(survey: Record<string, unknown> = {}) {
  const { id, read, write } = await makeClient(db);
  const survey_id = await makeSurvey(db, id, survey);
  const send = (body: string, headers: Record<string, string>) =>
    app.request('/api/v1/contacts', { method: 'POST', headers, body });
  const post = (body: unknown, headers: Record<string, string> = write) =>
    send(JSON.stringify(body), headers);
  const save = async (over: Record<string, unknown>): Promise<Saved> => {
    const response = await post({ survey_id, email: 'ann@people.test', ...over });
    assert.equal(response.status, 201, await response.clone().text());
    return ((await response.json()) as { data: Saved }).data;
  };
  const refusal = async (over: Record<string, unknown>) => {
    const response = await post({ survey_id, email: 'ann@people.test', ...over });
    return [response.status, ((await response.json()) as { error: string }).error] as const;
  };
  return { id, survey_id, read, post, save, refusal, ...reader(app, read) };
}

const rowOf = async (id: string) =>
  (await db<Record<string, unknown>[]>`select * from contacts where id = ${id}`)[0]!;

test('contact list returns the public fields', async () => {
  const org = await client();
  const of = { org_id: org.id, survey_id: org.survey_id };
  const id = await makeContact(db, of, {
    email: 'Ann@people.test',
    name: 'Ann',
    status: 'failed',
    failure_reason: 'mailbox full',
    sent_at: new Date('2024-05-01T10:00:00.5Z'),
  });
  const { data, meta } = await org.list('/api/v1/contacts');
  assert.partialDeepStrictEqual(data, [
    { id, status: 'failed', failure_reason: 'mailbox full', survey_name: 'Onboarding' },
  ]);
  assert.equal(meta.total, 1);
});

test('contact list leaves out other organizations', async () => {
  const [mine, theirs] = [await client(), await client()];
  await theirs.save({});
  const { data, meta } = await mine.list('/api/v1/contacts');
  assert.deepEqual([data, meta.total], [[], 0]);
});

test('new contact is pending and has its own link', async () => {
  const org = await client();
  const [one, two] = [await org.save({ name: ' Ann ' }), await org.save({ email: 'b@c.test' })];

  const { id, created_at } = one;
  assert.partialDeepStrictEqual(one, { email: 'ann@people.test', name: 'Ann', status: 'pending' });
  assert.match(created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  const tokens = [(await rowOf(id))['token'], (await rowOf(two.id))['token']];
  assert.match(String(tokens[0]), /^[A-Za-z0-9_-]{32}$/);
  assert.notEqual(tokens[0], tokens[1]);
  assert.equal(two.name, null);
});

test('posting an address in another case updates the contact', async () => {
  const org = await client();
  const first = await org.save({ name: 'Ann' });
  const again = await org.save({ email: 'ANN@People.test', name: 'Anna' });
  assert.deepEqual(again, { ...first, name: 'Anna' });
  assert.equal((await org.list('/api/v1/contacts')).meta.total, 1);
});

for (const name of [undefined, null]) {
  test(`contact keeps its name when the new one is ${name}`, async () => {
    const org = await client();
    await org.save({ name: 'Ann' });
    assert.equal((await org.save({ name })).name, 'Ann');
  });
}

test('posting a contact merges custom fields', async () => {
  const org = await client();
  await org.save({ properties: { plan: 'free', seats: 3 } });
  const { id } = await org.save({ properties: { plan: 'paid', tags: ['a'] } });
  assert.deepEqual((await rowOf(id))['properties'], { plan: 'paid', seats: 3, tags: ['a'] });
});

test('concurrent posts of an address create one contact', async () => {
  const org = await client();
  const saved = await Promise.all(Array.from({ length: 8 }, () => org.save({ name: 'Ann' })));
  assert.equal(new Set(saved.map(({ id }) => id)).size, 1);
});

const completed = { status: 'completed', completed_at: new Date('2024-01-01') };
const stateOf = async (survey: string) =>
  (
    await db<Record<string, unknown>[]>`
    select status, completed_by, completed_at from surveys where id = ${survey}`
  )[0];

test('completed survey becomes active with a new contact', async () => {
  const org = await client({ ...completed, completed_by: 'answers' });
  await org.save({});
  const expected = { status: 'active', completed_by: null, completed_at: null };
  assert.deepEqual({ ...(await stateOf(org.survey_id)) }, expected);
});

test('updating a contact leaves a completed survey alone', async () => {
  const org = await client();
  await org.save({});
  await db`update surveys set ${db({ ...completed, completed_by: 'answers' })} where id = ${org.survey_id}`;
  await org.save({ name: 'Ann' });
  assert.equal((await stateOf(org.survey_id))?.['status'], 'completed');
});

test('closed survey refuses contacts', async () => {
  const org = await client({ ...completed, completed_by: 'hand' });
  assert.equal((await org.refusal({}))[0], 400);
  assert.equal((await org.list('/api/v1/contacts')).meta.total, 0);
  assert.equal((await stateOf(org.survey_id))?.['completed_by'], 'hand');
});

test('survey refuses a contact that is posted while it is closed', async () => {
  const org = await client();
  let posting: ReturnType<typeof org.refusal> | undefined;
  await db.begin(async (tx) => {
    await tx`update surveys set ${tx({ ...completed, completed_by: 'hand' })} where id = ${org.survey_id}`;
    posting = org.refusal({});
    await untilLockWaits(db);
  });
  assert.equal((await posting)?.[0], 400);
});

test('draft accepts contacts', async () => {
  const org = await client({ status: 'draft' });
  await org.save({});
  assert.equal((await stateOf(org.survey_id))?.['status'], 'draft');
});

test('survey of another organization is not found', async () => {
  const [mine, theirs] = [await client(), await client()];
  assert.equal((await mine.refusal({ survey_id: theirs.survey_id }))[0], 404);
  assert.equal((await theirs.list('/api/v1/contacts')).meta.total, 0);
});

test('contact API names each invalid field', async () => {
  const { refusal } = await client();
  const refused: [over: Record<string, unknown>, error: RegExp][] = [
    [{ email: undefined }, /^email is required$/],
    [{ email: 'ann' }, /^email: /],
    [{ survey_id: '1' }, /^survey_id: /],
    [{ name: 'x'.repeat(maxNameLength + 1) }, /^name: /],
    [{ properties: [1] }, /^properties: /],
  ];
  for (const [over, error] of refused) {
    const [status, sentence] = await refusal(over);
    assert.equal(status, 400);
    assert.match(sentence, error);
  }
});

test('contact API accepts the longest name and unknown fields', async () => {
  const saved = await (await client()).save({ name: 'ü'.repeat(maxNameLength), colour: 'red' });
  assert.equal(saved.name, 'ü'.repeat(maxNameLength));
});
