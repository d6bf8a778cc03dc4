import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import type { RequestEnv } from '../../../src/lib/http/http.ts';
import { traceRequests } from '../../../src/lib/http/request-spans.ts';
import { recordSpans } from '../../support/fakes/tracer.ts';

test('a request span fails from status 500', async (t) => {
  const spans = recordSpans(t);
  const app = new Hono<RequestEnv>()
    .use(traceRequests('tenant'))
    .get('/:status', (c) => c.body(null, Number(c.req.param('status')) as 200));
  const statuses = [200, 404, 499, 500, 503];
  for (const status of statuses) await app.request(`/${status}`);
  assert.deepEqual(
    spans.map(({ failed, attributes }) => [attributes['http.response.status_code'], failed]),
    statuses.map((status) => [status, status >= 500]),
  );
});
