import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isForbidden, parseAllowList } from '../../../src/lib/outbound/connect.ts';

const open: [address: string, why: string][] = [
  ['93.184.215.14', 'a public IPv4 address'],
  ['1.1.1.1', 'a public IPv4 address'],
  ['172.15.255.255', 'just below a private range'],
  ['172.32.0.0', 'just above a private range'],
  ['100.63.255.255', 'just below carrier NAT'],
  ['2606:4700:4700::1111', 'a public IPv6 address'],
  ['::ffff:1.1.1.1', 'mapped, carrying a public address'],
  ['64:ff9b::101:101', 'NAT64, carrying a public address'],
  ['2002:101:101::1', '6to4, carrying a public address'],
];

const closed: [address: string, why: string][] = [
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['0.0.0.0', 'this host'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['169.254.169.254', 'metadata of clouds'],
  ['168.63.129.16', 'metadata of Azure, public in form'],
  ['100.100.100.200', 'carrier NAT, metadata of Alibaba'],
  ['192.0.0.192', 'protocol assignments, metadata of Oracle'],
  ['192.0.2.1', 'documentation'],
  ['198.18.0.1', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['fe80::1', 'link local'],
  ['fe80::1%eth0', 'a zone'],
  ['2606:4700::1%eth0', 'a zone on a public address'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata of AWS'],
  ['fec0::1', 'site local'],
  ['ff02::1', 'multicast'],
  ['100::1', 'discard'],
  ['2001:db8::1', 'documentation'],
  ['3fff::1', 'documentation'],
  ['2001::1', 'Teredo'],
  ['5f00::1', 'segment routing, outside of 2000::/3'],
  ['4000::1', 'outside of 2000::/3'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'mapped loopback'],
  ['::ffff:7f00:1', 'mapped loopback in hex'],
  ['::ffff:a9fe:a9fe', 'mapped metadata'],
  ['::ffff:0:127.0.0.1', 'translated loopback'],
  ['64:ff9b::7f00:1', 'NAT64 loopback'],
  ['64:ff9b::10.0.0.1', 'NAT64 private'],
  ['64:ff9b:1::1.1.1.1', 'NAT64 of local use'],
  ['2002:7f00:1::', '6to4 loopback'],
  ['2002:a00:1::1', '6to4 private'],
  ['0177.0.0.1', 'octal is no address here'],
  ['127.1', 'short is no address here'],
  ['2130706433', 'a number is no address here'],
  ['example.com', 'a name is no address'],
  ['', 'nothing is no address'],
];

for (const [address, why] of open) {
  test(`${address} is allowed: ${why}`, () => assert.equal(isForbidden(address, []), false));
}

for (const [address, why] of closed) {
  test(`${address} is forbidden: ${why}`, () => assert.equal(isForbidden(address, []), true));
}

test('an allowed range allows exactly its addresses, in every form', () => {
  const allow = parseAllowList(['10.1.0.0/16', 'fd00::/8']);
  const judged = ['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1', '10.2.0.1', 'fe80::1', '127.0.0.1'];
  assert.deepEqual(
    judged.map((address) => isForbidden(address, allow)),
    [false, false, false, true, true, true],
  );
});

test('an invalid range throws', () => {
  for (const range of ['300.0.0.0/8', '10.0.0.0/33', '10.0.0.0', '::/129']) {
    assert.throws(() => parseAllowList([range]), range);
  }
});
