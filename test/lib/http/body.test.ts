import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import * as v from 'valibot';
import { parseBody, readRawBody } from '../../../src/lib/http/body.ts';
import { answerError, type RequestEnv } from '../../../src/lib/http/http.ts';
import { createLog } from '../../../src/lib/log/log.ts';

const Named = v.object({ text: v.string() });
const app = new Hono<RequestEnv>()
  .onError(answerError(createLog({ level: 'silent' }), () => undefined))
  .post('/json', async (c) => c.json(await parseBody(c, Named)))
  .post('/raw', async (c) => c.body(new Uint8Array(await readRawBody(c, 10))));

type Body = string | ReadableStream<Uint8Array>;

const post = (path: string, body: Body, headers: Record<string, string> = {}) =>
  app.request(path, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);

for (const [declared, sent, status] of [
  [null, 10, 200],
  [null, 11, 413],
  [10, 10, 200],
  [11, 10, 413],
  [11, 11, 413],
  [10, 11, 413],
] as const) {
  test(`${sent} bytes declared as ${declared ?? 'unknown'} are ${status} with a limit of 10`, async () => {
    const headers = declared === null ? {} : { 'Content-Length': String(declared) };
    const answer = await post('/raw', 'x'.repeat(sent), headers as Record<string, string>);
    assert.equal(answer.status, status);
    if (status === 200) assert.equal(await answer.text(), 'x'.repeat(sent));
  });
}

test('a chunked body is read in order, up to the limit', async () => {
  const pieces = (...texts: string[]) => ReadableStream.from(texts.map((one) => Buffer.from(one)));
  assert.equal(await (await post('/raw', pieces('one,', 'two,', '10'))).text(), 'one,two,10');
  assert.equal((await post('/raw', pieces('one,', 'two,', '10.'))).status, 413);
});
