import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { serve } from '@hono/node-server';
import { makeClient, makeSurvey } from './support/make/rows.ts';
import { testApp } from './support/probe/app.ts';
import { testDatabase } from './support/probe/database.ts';

/** Rules for every address of the service: trailing slashes and HEAD. */
const { db } = await testDatabase();
const app = testApp(db);
const { id: orgId, read } = await makeClient(db);
const shareId = 'abcdefgh12345678';
await makeSurvey(db, orgId, { share_id: shareId });

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
await once(server, 'listening');
after(() => server.close());
const { port } = server.address() as { port: number };

const templates = app.routes.filter(({ method }) => method === 'GET').map(({ path }) => path);
const plain = [...new Set(templates)].filter((path) => !/[:*]/.test(path) && path !== '/');
const pages = plain.filter((path) => !path.startsWith('/api/'));

test('a page URL with a trailing slash redirects to the URL without it', async () => {
  let moved = 0;
  for (const page of [...pages, `/f/${shareId}`]) {
    for (const method of ['GET', 'HEAD']) {
      const { status, location = '' } = await ask(method, `${page}/?a=1&b=%2F`);
      // Visible only after signing in, or from this machine.
      if (location.startsWith('/sign-in') || status === 403) continue;
      assert.deepEqual([status, location], [308, `${page}?a=1&b=%2F`]);
      moved += 1;
    }
  }
  assert.ok(moved > 20, `only ${moved} moved`);
});

test('unknown paths and odd slashes return 404 or 400 without a redirect', async () => {
  const odd = ['//evil.test/', '///evil.test//', '/\\\\evil.test/', '/%2F%2Fevil.test/', '//docs/'];
  for (const path of [...odd, '//f/x/', '/nothing/', '/s/', '//']) {
    const { status, location } = await ask('GET', path);
    assert.ok(status === 404 || status === 400, `${path}: ${status}`);
    assert.equal(location, undefined, path);
  }
});

test('HEAD has the status of GET, and the same length or none', async () => {
  for (const path of [
    ...plain,
    '/',
    `/f/${shareId}`,
    '/nothing',
    '/api/v1/nothing',
    '/s/nothing',
  ]) {
    const [get, head] = [await ask('GET', path, read), await ask('HEAD', path, read)];
    assert.equal(head.status, get.status, path);
    assert.equal(head.bytes, 0, path);
    if (head.length !== undefined) assert.equal(Number(head.length), get.bytes, path);
  }
});

/** Uses a socket, because `fetch` would normalize the path and hide the length. */
async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const asked = request({ host: '127.0.0.1', port, method, path, headers }).end();
  const [answer] = await once(asked, 'response');
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  const { location, 'content-length': length } = answer.headers;
  return { status: answer.statusCode as number, location, length, bytes };
}
