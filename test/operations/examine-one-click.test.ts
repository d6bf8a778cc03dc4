import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { examineOneClick } from '../../src/operations/doctor-mail.ts';

/** What stands at the public address, whatever it is. */
async function standing(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const answering = (status: number, body = '', headers = {}) =>
  standing((_request, response) => response.writeHead(status, headers).end(body));

const ours = JSON.stringify({
  error: 'subscription not found',
  code: 'not_found',
  request_id: '1',
});

test('the press is the one of a mail program: a POST of the field, with no cookie', async () => {
  const { promise, resolve } = Promise.withResolvers<object>();
  const url = await standing(async (request, response) => {
    const body = (await request.toArray()).join('');
    const { method, headers, url: path } = request;
    resolve({ method, body, type: headers['content-type'], cookie: headers.cookie, path });
    response.writeHead(404).end(ours);
  });
  const { status } = await examineOneClick(url);
  const { path, ...seen } = (await promise) as { path: string };
  assert.match(path, /^\/u\/[A-Za-z0-9_-]{32}$/);
  assert.deepEqual(seen, {
    method: 'POST',
    body: 'List-Unsubscribe=One-Click',
    type: 'application/x-www-form-urlencoded;charset=UTF-8',
    cookie: undefined,
  });
  assert.equal(status, 'warn');
});

const answers: [why: string, status: number, body: string, headers: object, says: RegExp][] = [
  [
    'a redirect',
    302,
    '',
    { Location: 'https://other.example/login' },
    /redirected to https:\/\/other\.example\/login, which/,
  ],
  ['a login', 401, '', {}, /asks for a login/],
  ['only GET', 405, '', { Allow: 'GET' }, /lets no POST through/],
  ['a service that is down', 502, '', {}, /is answered 502/],
  ['a page that says yes to everything', 200, '<html>', {}, /answered 200, and not by askback/],
  ['a page that knows nothing', 404, '<html>not found', {}, /answered 404, and not by askback/],
];

for (const [why, status, body, headers, says] of answers) {
  test(`unsubscribing fails at ${why}`, async () => {
    const finding = await examineOneClick(await answering(status, body, { ...headers }));
    assert.equal(finding.status, 'fail');
    assert.match(finding.message, says);
  });
}

test('an address that does not answer is given up in time', async () => {
  const finding = await examineOneClick(await standing(() => {}), 200);
  assert.match(finding.message, /nothing answered within 0\.2 seconds/);
});

test('a public address must be https, as mail programs ask for', async () => {
  const { status, message } = await examineOneClick('http://a.example');
  assert.deepEqual(
    [status, message.slice(-55)],
    ['fail', 'not https: mail programs offer no one-click unsubscribe'],
  );
});
