import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { beginSession } from '../../src/sessions/session.ts';
import { makeMember } from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

async function begin(userAgent: string) {
  const memberId = await makeMember(db);
  const app = new Hono().get('/', async (c) => {
    await beginSession(db, c, { publicUrl: 'https://askback.test', memberId });
    return c.text('');
  });
  const answer = await app.request('/', { headers: { 'User-Agent': userAgent } });
  const [row] = await db<{ user_agent: string | null }[]>`
    select user_agent from sessions where member_id = ${memberId}`;
  return { cookie: answer.headers.get('Set-Cookie') ?? '', userAgent: row!.user_agent };
}

const names: [what: string, given: string, kept: string | null][] = [
  ['300 characters', 'x'.repeat(300), 'x'.repeat(300)],
  ['301 characters', `y${'x'.repeat(300)}`, `y${'x'.repeat(299)}`],
  ['nothing', '', null],
];
for (const [what, given, kept] of names) {
  test(`of a browser that calls itself ${what} a session keeps 300 at most`, async () => {
    assert.equal((await begin(given)).userAgent, kept);
  });
}

test('the cookie of a session stays for ninety days', async () => {
  assert.match((await begin('Browser/1.0')).cookie, /; Max-Age=7776000; /);
});
