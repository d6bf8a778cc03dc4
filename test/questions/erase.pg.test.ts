import assert from 'node:assert/strict';
import { test } from 'node:test';
import { erasableScene, erasureFolder } from '../support/make/erasure.ts';
import { makeContact, makeResponse, makeWebhook } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const folder = erasureFolder();

async function scene() {
  const erasable = await erasableScene(db, folder);
  const { org, of } = erasable;
  const answer = async (response: string, answers: object) => {
    await db`
      insert into response_answers (org_id, response_id, answers, completed_at)
      values (${org}, ${response}, ${db.json(answers as never)}, now())`;
  };
  const stored = async (response: string) =>
    (await db`select answers from response_answers where response_id = ${response}`)[0]?.[
      'answers'
    ];
  const [own] = await db<{ id: string }[]>`select id from responses where org_id = ${org}`;
  const contact_id = await makeContact(db, of, { email: 'bob@people.test' });
  const other = await makeResponse(db, of, { contact_id });
  return { ...erasable, answer, stored, own: own!.id, other };
}

test('an erasure empties texts, and hides the address in texts of others', async () => {
  const { answer, stored, own, other, erase } = await scene();
  await answer(own, {
    q_text: { text: 'Call me' },
    q_other: { other: 'Radio' },
    q_both: { value: ['o_one'], other: 'Mine' },
    q_scale: { value: 4 },
  });
  await answer(other, { q_text: { text: 'Ask\nada@people.test\tor "ada@people.test"' } });
  await erase();
  assert.deepEqual(await stored(own), { q_both: { value: ['o_one'] }, q_scale: { value: 4 } });
  assert.deepEqual(await stored(other), { q_text: { text: 'Ask\n[email]\tor "[email]"' } });
});

test('an erasure empties the event of a text that was removed later', async () => {
  const { org, answer, own, erase } = await scene();
  await makeWebhook(db, org, { events: ['response.completed'] });
  await db`update responses set comment = null where id = ${own}`;
  await answer(own, {});
  const body = JSON.stringify({ responseId: own, answers: [{ kind: 'text', value: 'Call me' }] });
  await db`insert into events (org_id, type, body) values (${org}, 'response.completed', ${body})`;
  await erase();
  const [event] = await db`select body from events where org_id = ${org}`;
  assert.equal(event!['body'], '');
});
