import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import { clientAddress, trustProxies } from '../../../src/lib/http/client-address.ts';

const app = new Hono().use(trustProxies([])).get('/', (c) => c.text(clientAddress(c)));

async function clientOf(remoteAddress: string | undefined) {
  const incoming = { socket: { remoteAddress, remotePort: 4711, remoteFamily: 'IPv4' } };
  return await (await app.request('/', {}, { incoming })).text();
}

const clients: [peer: string | undefined, client: string][] = [
  ['192.0.2.9', '192.0.2.9'],
  ['::ffff:192.0.2.9', '192.0.2.9'],
  ['2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['no address', 'unknown'],
  [undefined, 'unknown'],
];

test('a client is an IPv4 address or an IPv6 network', async () => {
  for (const round of ['first', 'next']) {
    for (const [peer, client] of clients) assert.equal(await clientOf(peer), client, round);
  }
});
