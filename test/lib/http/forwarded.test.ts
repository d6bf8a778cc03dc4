import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { clientBehind, type ForwardingHeaders } from '../../../src/lib/http/client-address.ts';

const trusted = ['10.0.0.0/8', '127.0.0.1/32', 'fd00::/8'].map((range) => ipaddr.parseCIDR(range));
const behind = (peer: string, headers: ForwardingHeaders) => clientBehind(peer, headers, trusted);

type Row = [why: string, peer: string, headers: ForwardingHeaders, client: string];
const rows: Row[] = [
  ['a stranger writes the list', '192.0.2.9', { list: '1.2.3.4' }, '192.0.2.9'],
  ['a stranger writes Forwarded', '192.0.2.9', { standard: 'for=1.2.3.4' }, '192.0.2.9'],
  ['a trusted proxy says nothing', '10.0.0.1', {}, '10.0.0.1'],
  ['a trusted proxy appends the client', '10.0.0.1', { list: '6.6.6.6, 192.0.2.9' }, '192.0.2.9'],
  ['two trusted proxies', '10.0.0.1', { list: '6.6.6.6, 192.0.2.9, 10.0.0.2' }, '192.0.2.9'],
  ['a client inside the trusted network', '10.0.0.1', { list: '10.0.0.7, 10.0.0.2' }, '10.0.0.7'],
  ['IPv6 in brackets with a port', '10.0.0.1', { list: '[2001:db8::1]:4711' }, '2001:db8::1'],
  ['IPv6 without brackets', '10.0.0.1', { list: '2001:db8::1' }, '2001:db8::1'],
  ['IPv4 with a port', '10.0.0.1', { list: '192.0.2.9:4711' }, '192.0.2.9'],
  ['IPv4 mapped into IPv6', '10.0.0.1', { list: '::ffff:192.0.2.9' }, '192.0.2.9'],
  ['IPv4 in octal', '10.0.0.1', { list: '0300.0.2.9' }, '10.0.0.1'],
  ['words', '10.0.0.1', { list: 'unknown' }, '10.0.0.1'],
  ['nothing but commas', '10.0.0.1', { list: ',,' }, '10.0.0.1'],
  ['a hidden hop', '10.0.0.1', { list: '6.6.6.6, unknown, 10.0.0.2' }, '10.0.0.2'],
  ['Forwarded', '10.0.0.1', { standard: 'for=192.0.2.9;proto=https;by=10.0.0.1' }, '192.0.2.9'],
  [
    'Forwarded, quoted',
    'fd00::1',
    { standard: 'proto=https;For="[2001:db8::1]:47"' },
    '2001:db8::1',
  ],
  [
    'Forwarded with a comma inside quotes',
    '10.0.0.1',
    { standard: 'for=192.0.2.9;by="x, for=6.6.6.6"' },
    '192.0.2.9',
  ],
  [
    'Forwarded with a quote inside quotes',
    '10.0.0.1',
    { standard: 'for=192.0.2.9;by="\\", for=6.6.6.6"' },
    '192.0.2.9',
  ],
  ['Forwarded, hidden', '10.0.0.1', { standard: 'for=6.6.6.6, for=_secret' }, '10.0.0.1'],
  ['both agree', '10.0.0.1', { list: '192.0.2.9', standard: 'for=192.0.2.9' }, '192.0.2.9'],
  ['both differ', '10.0.0.1', { list: '192.0.2.9', standard: 'for=6.6.6.6' }, '10.0.0.1'],
];

for (const [why, peer, headers, client] of rows) {
  test(`${why}: the client is ${client}`, () => assert.equal(behind(peer, headers), client));
}

const anyone = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('unknown', '_x', '', '10.0.0.3'));

test('a client cannot forge the addresses that proxies append', () => {
  fc.assert(
    fc.property(
      fc.array(anyone),
      fc.ipV4().filter((ip) => !ipaddr.parse(ip).match(ipaddr.parseCIDR('10.0.0.0/8'))),
      fc.array(fc.constantFrom('10.0.0.2', '10.9.9.9', 'fd00::5')),
      (forged, client, proxies) => {
        fc.pre(client !== '127.0.0.1');
        const chain = [...forged, client, ...proxies];
        assert.equal(behind('10.0.0.1', { list: chain.join(', ') }), client);
        const standard = chain.map((hop) => `for="${hop.includes(':') ? `[${hop}]` : hop}"`);
        assert.equal(behind('10.0.0.1', { standard: standard.join(', ') }), client);
      },
    ),
  );
});

test('headers of an untrusted peer are ignored', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.string(), fc.string(), (peer, list, standard) => {
      fc.pre(!peer.startsWith('10.') && peer !== '127.0.0.1');
      assert.equal(behind(peer, { list, standard }), peer);
    }),
  );
});

test('any header of a trusted proxy yields an address', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (list, standard) => {
      assert.ok(ipaddr.isValid(behind('10.0.0.1', { list, standard })));
    }),
  );
});
