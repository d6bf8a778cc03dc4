import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const app = testApp(db);
const client = await makeClient(db);
const survey = await makeSurvey(db, client.id);

const post = (query: string) =>
  app.request(`/api/v1/surveys/${survey}/send${query}`, {
    method: 'POST',
    headers: { ...client.write, 'Content-Type': 'application/json' },
    body: JSON.stringify({ contacts: [{ email: 'ann@people.test' }] }),
  });

const unclear = ['True', 'TRUE', '1', 'yes', 'on', 't', 'null', '', '%20true', 'true&dry_run=true'];
for (const value of [...unclear, 'false&dry_run=true', 'true&dry_run=false']) {
  test(`a send with dry_run=${value} is refused and mails no contact`, async () => {
    const answer = await post(`?dry_run=${value}`);
    assert.equal(answer.status, 400);
    assert.match(((await answer.json()) as { error: string }).error, /^dry_run: must be /);
    assert.equal((await db`select from contacts where survey_id = ${survey}`).length, 0);
  });
}

test('a send with dry_run=true says what it would do and writes nothing', async () => {
  const answer = await post('?dry_run=true');
  assert.equal(answer.status, 200);
  const { data } = (await answer.json()) as { data: { sent: number } };
  assert.equal(data.sent, 1);
  assert.equal((await db`select from contacts where survey_id = ${survey}`).length, 0);
});
