import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { type RequestEnv, routeOf } from '../../../src/lib/http/http.ts';

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
