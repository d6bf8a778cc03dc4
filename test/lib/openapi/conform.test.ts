import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conforms } from '../../support/probe/conforms.ts';

/** Tests the conformance check of the API tests itself. */
const list = { data: [], meta: { total: 0 } };
const failure = { error: 'no', code: 'rate_limited', request_id: 'r' };

const judge = (answer: Response, path = '/api/v1/tags', method = 'GET') =>
  conforms(new Request(`http://test${path}`, { method }), answer);

test('a documented answer conforms', async () => {
  await judge(Response.json(list));
  await judge(Response.json(failure, { status: 429 }));
  await judge(Response.json(failure, { status: 404 }), '/api/v1/nothing');
  await judge(Response.json(failure, { status: 405 }), '/api/v1/summaries', 'POST');
});

test('conformance reports undocumented fields at any depth', async () => {
  await assert.rejects(judge(Response.json({ ...list, more: 1 })), /additional properties/);
  await assert.rejects(
    judge(Response.json({ ...list, meta: { total: 0, page: 1 } })),
    /additional/,
  );
  await assert.rejects(
    judge(Response.json({ ...failure, cause: 'x' }, { status: 400 })),
    /additional properties/,
  );
});

test('conformance reports an undocumented status', async () => {
  await assert.rejects(judge(Response.json(list, { status: 201 })), /not in the document/);
  await assert.rejects(judge(Response.json(failure, { status: 418 })), /not in the document/);
});
