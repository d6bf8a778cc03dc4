import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { examineOneClick } from '../../src/operations/doctor-mail.ts';

/** A server as the public address. */
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

test('examineOneClick POSTs the field without cookies', async () => {
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
  ['a login', 401, '', {}, /gets 401, but not from askback: .* without a login/],
  ['a foreign 404', 404, '<html>not found', {}, /gets 404, but not from askback/],
];

for (const [why, status, body, headers, says] of answers) {
  test(`examineOneClick fails at ${why}`, async () => {
    const finding = await examineOneClick(await answering(status, body, { ...headers }));
    assert.equal(finding.status, 'fail');
    assert.match(finding.message, says);
  });
}

test('examineOneClick gives up on a silent address in time', async () => {
  const finding = await examineOneClick(await standing(() => {}), 200);
  assert.match(finding.message, /nothing answered within 0\.2 seconds/);
});

test('examineOneClick requires https', async () => {
  const { status, message } = await examineOneClick('http://a.example');
  assert.deepEqual(
    [status, message.slice(-54)],
    ['fail', 'not https: mail clients offer no one-click unsubscribe'],
  );
});
