import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { answerError, type RequestEnv } from '../../../src/lib/http/http.ts';

test('a full database disk is logged at most once a minute', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const logged: number[] = [];
  const log = { error: () => logged.push(now) };
  const app = new Hono<RequestEnv>()
    .onError(answerError(log as never, () => undefined))
    .get('/', () => {
      throw Object.assign(new Error('no space left on device'), { code: '53100' });
    });
  for (now of [0, 1, 59_999, 60_000, 60_001, 119_999, 120_000]) {
    assert.equal((await app.request('/')).status, 503);
  }
  assert.deepEqual(logged, [0, 60_000, 120_000]);
});
