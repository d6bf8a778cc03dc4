import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { isLocalRequest } from '../../../src/lib/http/listen.ts';

const app = new Hono().get('/', (c) => c.text(String(isLocalRequest(c))));

type From = { peer?: string | undefined; version?: string; headers?: Record<string, string> };

async function isLocal({ peer = '127.0.0.1', version = '1.1', headers = {} }: From) {
  const socket = { remoteAddress: peer, remotePort: 4711, remoteFamily: 'IPv4' };
  const incoming = { socket, httpVersion: version };
  const all = { Host: 'localhost:8080', Accept: '*/*', ...headers };
  return (await (await app.request('/', { headers: all }, { incoming })).text()) === 'true';
}

const cases: [why: string, from: From, local: boolean][] = [
  ['a client on this machine', {}, true],
  ['a client by IPv6', { peer: '::1', headers: { Host: '[::1]:8080' } }, true],
  ['a client by HTTP/2', { version: '2.0' }, true],
  ['a page of this machine', { headers: { Origin: 'http://localhost:3000' } }, true],
  ['a page that is at home here', { headers: { 'Sec-Fetch-Site': 'same-origin' } }, true],
  ['a client elsewhere', { peer: '192.0.2.9' }, false],
  ['an old proxy', { version: '1.0' }, false],
  ['a proxy that says so', { headers: { 'X-Forwarded-For': '192.0.2.9' } }, false],
  ['a proxy that says so in another way', { headers: { Via: '1.1 proxy' } }, false],
  ['a page of a stranger', { headers: { 'Sec-Fetch-Site': 'cross-site' } }, false],
  ['a page of a stranger by its origin', { headers: { Origin: 'https://evil.test' } }, false],
  ['a name that only leads here', { headers: { Host: 'evil.test:8080' } }, false],
];
for (const [why, from, local] of cases) {
  test(`${why} is ${local ? 'local' : 'not local'}`, async () =>
    assert.equal(await isLocal(from), local));
}
