import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { answerRead } from '../../../src/lib/http/read-answer.ts';

const app = new Hono();
app.get('/:length', (c) => answerRead(c, JSON.stringify('x'.repeat(+c.req.param('length') - 2))));

for (const [length, encoding] of [
  [1023, null],
  [1024, 'gzip'],
] as const) {
  test(`an answer of ${length} characters is sent ${encoding ? 'compressed' : 'as it is'}`, async () => {
    const answer = await app.request(`/${length}`, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.equal(answer.headers.get('Content-Encoding'), encoding);
  });
}
