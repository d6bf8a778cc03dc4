import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { commandWriter } from '../../src/audit/acts.ts';
import { importContacts, readContacts } from '../../src/contacts/import.ts';
import { Email } from '../../src/lib/cli/command.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);

const judged: [address: string, takes: boolean][] = [
  ['ann@people.test', true],
  ["o'neil+tag@sub.people.test", true],
  ['ann@bäcker.example', true],
  [' ann@people.test ', true],
  ['ann@people', false],
  ['ann@10.0.0.1', false],
  ['zoë@people.test', false],
  ['"ann b"@people.test', false],
  ['Ann <ann@people.test>', false],
  ['ann@people.test, bob@people.test', false],
  [`${'a'.repeat(65)}@people.test`, false],
];

for (const [email, takes] of judged) {
  test(`${JSON.stringify(email)} is ${takes ? 'taken' : 'refused'} alike wherever it comes in`, async () => {
    const client = await makeClient(db);
    const survey_id = await makeSurvey(db, client.id);
    const post = (path: string, body: object) =>
      app.request(path, {
        method: 'POST',
        headers: client.write,
        body: JSON.stringify(body),
      });

    const added = await post('/api/v1/contacts', { survey_id, email });
    assert.equal(added.status, takes ? 201 : 400);
    const tried = await post(`/api/v1/surveys/${survey_id}/send?dry_run=true`, {
      contacts: [{ email }],
    });
    const { data } = (await tried.json()) as { data: { sent: number; invalid: number } };
    assert.deepEqual([data.sent, data.invalid], takes ? [1, 0] : [0, 1]);
    assert.equal(v.is(Email, email), takes);
    const file = `email\n"${email.replaceAll('"', '""')}"\n`;
    if (takes) assert.equal(readContacts(file).length, 1);
    else assert.throws(() => readContacts(file), /is not an email address/);
  });
}

test('a refused address is named by its field', async () => {
  const client = await makeClient(db);
  const body = JSON.stringify({ survey_id: await makeSurvey(db, client.id), email: 'ann@' });
  const answer = await app.request('/api/v1/contacts', {
    method: 'POST',
    headers: client.write,
    body,
  });
  assert.equal(
    ((await answer.json()) as { error: string }).error,
    'email: is not an email address',
  );
});

const forms = ['Ada@Bücher.example', 'ada@BÜCHER.example', 'ada@xn--bcher-kva.example'];

test('a domain in letters and the same in ASCII are one person, wherever it comes in', async () => {
  const client = await makeClient(db);
  const survey_id = await makeSurvey(db, client.id);
  const ids: string[] = [];
  for (const email of forms) {
    const answer = await app.request('/api/v1/contacts', {
      method: 'POST',
      headers: client.write,
      body: JSON.stringify({ survey_id, email }),
    });
    const { data } = (await answer.json()) as { data: { id: string; email: string } };
    assert.equal(data.email.toLowerCase(), 'ada@xn--bcher-kva.example');
    ids.push(data.id);
  }
  const where = { ...commandWriter(client.id), surveyId: survey_id };
  const tools = { db, onProgress: () => {} };
  const { contacts } = await importContacts(tools, where, ['email', ...forms].join('\n'));
  assert.equal(contacts, 1);
  const rows = await db<{ id: string }[]>`select id from contacts where survey_id = ${survey_id}`;
  assert.deepEqual([...new Set([...ids, ...rows.map(({ id }) => id)])], [ids[0]]);
});
