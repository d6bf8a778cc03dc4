import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, asPerson, visitor } from '../support/probe/ask.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const { request } = visitor(db);

const asJson = { 'Content-Type': 'application/json' };
const send = (path: string, body: string) =>
  request(path, { method: 'POST', headers: asJson, body });

/** A JSON answer with exactly this number of bytes. */
function answerOf(bytes: number): string {
  const answer = JSON.stringify({ score: 9, pad: '' });
  return answer.replace('""', `"${'x'.repeat(bytes - answer.length)}"`);
}

test('the longest comment fits into a body, however it is escaped', async () => {
  const emoji = '😀'.repeat(5000);
  const escaped = [...emoji].map(() => '\\ud83d\\ude00').join('');
  for (const link of ['personal', 'shared'] as const) {
    const [form, json] = [await ask(db), await ask(db)];
    const body = new URLSearchParams({ score: '9', comment: emoji });
    const posted = await request(form[link], { method: 'POST', headers: asPerson, body });
    assert.equal(posted.status, 200);
    assert.equal((await send(json[link], `{"score":9,"comment":"${escaped}"}`)).status, 201);
    for (const asked of [form, json]) assert.equal((await asked.answers())[0]?.comment, emoji);
  }
});

test('a body of 64 KiB is read, and one byte more returns 413', async () => {
  for (const link of ['personal', 'shared'] as const) {
    const asked = await ask(db);
    assert.equal((await send(asked[link], answerOf(64 * 1024 + 1))).status, 413);
    assert.equal((await send(asked[link], answerOf(64 * 1024))).status, 201);
  }
});
