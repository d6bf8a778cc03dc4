import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { type RequestEnv, routeOf } from '../../../src/lib/http/http.ts';
import { acceptTrace, traceRequests } from '../../../src/lib/http/request-spans.ts';
import { recordSpans } from '../../support/fakes/tracer.ts';

const [trace, id] = ['0af7651916cd43dd8448eb211c80319c', '3f2b8c1e-5d47-4a90-9b1c-7e6f0d2a4c58'];

test('the route of a request ignores middleware', async () => {
  const app = new Hono<RequestEnv>()
    .use(async (c, next) => {
      await next();
      c.res.headers.set('route', routeOf(c));
    })
    .get('/things/new', (c) => c.body(null))
    .get('/things/:id', (c) => c.body(null));
  for (const [path, route] of [
    ['/things/new', '/things/new'],
    ['/things/1', '/things/:id'],
    ['/nothing', 'none'],
  ] as const) {
    assert.equal((await app.request(path)).headers.get('route'), route, path);
  }
});

test('only API requests continue the trace of the caller', async (t) => {
  const spans = recordSpans(t);
  const app = new Hono<RequestEnv>()
    .use(traceRequests('tenant'))
    .use('/api/*', async (c, next) => {
      if (c.req.header('key')) acceptTrace(c);
      await next();
    })
    .get('/api/things/:id', (c) => c.body(null))
    .get('/pages/:token', (c) => c.body(null));
  const traceparent = `00-${trace}-b7ad6b7169203331-01`;
  for (const [path, headers] of [
    [`/api/things/${id}`, { traceparent, key: 'yes' }],
    ['/api/things/secret', { traceparent }],
    ['/pages/secret', { traceparent, key: 'yes' }],
    ['/secret', { traceparent }],
    ['/api/secret', { traceparent }],
  ] as const) {
    await app.request(path, { headers });
  }
  assert.deepEqual(
    spans.map(({ name, parentTrace, attributes }) => [name, attributes['url.path'], parentTrace]),
    [
      ['GET /api/things/:id', `/api/things/${id}`, trace],
      ['GET /api/things/:id', '/api/things/:id', undefined],
      ['GET /pages/:token', '/pages/:token', undefined],
      ['GET', '/*', undefined],
      ['GET', '/*', undefined],
    ],
  );
});
