import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { answerError, type RequestEnv } from '../../src/lib/http/http.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { guardMailbox, mailboxUrl } from '../../src/mailbox/pages.tsx';
import { serve } from '../e2e/serve.ts';

const secret = 'secret-of-the-mailbox';
const log = createLog({ level: 'silent' });

async function mailbox(mailboxSecret: string | null) {
  const guarded = new Hono()
    .use(guardMailbox({ mailbox: true, mailboxSecret }))
    .get('/', (c) => c.text('mails'));
  const app = new Hono<RequestEnv>()
    .onError(answerError(log, () => undefined))
    .route('/mailbox', guarded);
  return await serve(app);
}

const ask = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, redirect: 'manual' });

test('local callers read the mailbox when there is no public address', async () => {
  const base = await mailbox(null);
  assert.equal((await ask(mailboxUrl(base, null))).status, 200);
});

test('local callers need the link when there is a public address', async () => {
  const base = await mailbox(secret);
  assert.equal((await ask(`${base}/mailbox`)).status, 403);
  assert.equal((await ask(`${base}/mailbox?secret=wrong`)).status, 403);
  assert.equal((await ask(`${base}/mailbox`, { Cookie: 'askback_mailbox=wrong' })).status, 403);
  const opened = await ask(mailboxUrl(base, secret));
  assert.deepEqual([opened.status, opened.headers.get('Location')], [303, '/mailbox']);
  const cookie = opened.headers.get('Set-Cookie') ?? '';
  assert.match(cookie, /; Path=\/mailbox; HttpOnly; SameSite=Strict$/);
  const read = await ask(`${base}/mailbox`, { Cookie: cookie.split(';')[0]! });
  assert.deepEqual([read.status, await read.text()], [200, 'mails']);
});

test('the secret is removed from the URL, also with a cookie', async () => {
  const base = await mailbox(secret);
  const again = await ask(mailboxUrl(base, secret), { Cookie: `askback_mailbox=${secret}` });
  assert.deepEqual([again.status, again.headers.get('Location')], [303, '/mailbox']);
});

test('the secret does not admit requests forwarded by a proxy', async () => {
  const base = await mailbox(secret);
  const answer = await ask(mailboxUrl(base, secret), { 'X-Forwarded-For': '192.0.2.9' });
  assert.equal(answer.status, 403);
});
