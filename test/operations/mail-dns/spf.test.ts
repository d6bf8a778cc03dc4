import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { spf } from 'mailauth/lib/spf/index.js';
import type { SpfResult } from '../../../src/operations/mail-dns/spf.rules.ts';
import { checkSpf, measureSpf } from '../../../src/operations/mail-dns/spf.ts';
import { readSpf } from '../../../src/operations/mail-dns/spf-record.ts';
import { fakeResolver, servfail, type Zone } from '../../support/fakes/dns.ts';

const exchangers = (count: number) =>
  Array.from({ length: count }, (_, at) => `${at} x${at}.example`);
const elsewhere: Zone = {
  'TXT _spf.relay.example': ['v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 -all'],
  'TXT soft.example': ['v=spf1 ~all'],
  'TXT loop.example': ['v=spf1 include:loop.example -all'],
  'TXT bad.example': ['v=spf1 ip4:1.2.3 -all'],
  'TXT broken.example': [servfail],
  'TXT two.example': ['v=spf1 -all', 'v=spf1 +all'],
  'A mail.example.com': ['192.0.2.7'],
  'AAAA mail.example.com': ['2001:db8:0:0:0:0:0:7'],
  'MX example.com': ['10 mail.example.com'],
  'A example.com': ['192.0.2.9'],
  'MX ten.example': exchangers(10),
  'MX eleven.example': exchangers(11),
  'A x9.example': ['192.0.2.1', '192.0.2.77', '192.0.2.3'],
  'A 192.0.2.7.list.example.com': ['127.0.0.2'],
  'A 7.example.com.list.example.com': ['127.0.0.2'],
};
const included = (count: number): Zone =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `TXT i${at}.example.com`,
      ['v=spf1 ip4:203.0.113.1 -all'],
    ]),
  );
const includes = (count: number) =>
  Array.from({ length: count }, (_, at) => `include:i${at}.example.com`).join(' ');

type Case = [record: string, ip: string, result: SpfResult];
const cases: Case[] = [
  ['v=spf1 ip4:192.0.2.7 -all', '192.0.2.7', 'pass'],
  ['v=spf1 ip4:192.0.2.7 -all', '192.0.2.8', 'fail'],
  ['v=spf1 ip4:192.0.2.0/24 -all', '192.0.2.200', 'pass'],
  ['v=spf1 ip4:192.0.2.0/24 ~all', '192.0.3.1', 'softfail'],
  ['v=spf1 ?ip4:192.0.2.7 -all', '192.0.2.7', 'neutral'],
  ['v=spf1 -ip4:192.0.2.7 +all', '192.0.2.7', 'fail'],
  ['v=spf1 ip4:192.0.2.7', '192.0.2.8', 'neutral'],
  ['v=spf1', '192.0.2.8', 'neutral'],
  ['V=SPF1 IP4:192.0.2.7 -ALL', '192.0.2.7', 'pass'],
  ['v=spf1 ip6:2001:db8::/32 -all', '2001:db8::7', 'pass'],
  ['v=spf1 ip6:2001:db8::/32 -all', '192.0.2.7', 'fail'],
  ['v=spf1 a -all', '192.0.2.9', 'pass'],
  ['v=spf1 a/24 -all', '192.0.2.200', 'pass'],
  ['v=spf1 a:mail.example.com -all', '192.0.2.7', 'pass'],
  ['v=spf1 a:mail.example.com//64 -all', '2001:db8::99', 'pass'],
  ['v=spf1 mx -all', '192.0.2.7', 'pass'],
  ['v=spf1 mx:example.com/30 -all', '192.0.2.4', 'pass'],
  ['v=spf1 mx -all', '192.0.2.9', 'fail'],
  ['v=spf1 include:_spf.relay.example -all', '192.0.2.7', 'pass'],
  ['v=spf1 include:_spf.relay.example ~all', '203.0.113.9', 'softfail'],
  ['v=spf1 include:soft.example -all', '192.0.2.7', 'fail'],
  ['v=spf1 include:nowhere.example -all', '192.0.2.7', 'permerror'],
  ['v=spf1 include:loop.example -all', '192.0.2.7', 'permerror'],
  ['v=spf1 include:bad.example -all', '192.0.2.7', 'permerror'],
  ['v=spf1 include:two.example -all', '192.0.2.7', 'permerror'],
  ['v=spf1 include:broken.example -all', '192.0.2.7', 'temperror'],
  ['v=spf1 ip4:192.0.2.7 include:broken.example -all', '192.0.2.7', 'pass'],
  ['v=spf1 redirect=_spf.relay.example', '192.0.2.7', 'pass'],
  ['v=spf1 redirect=_spf.relay.example', '203.0.113.9', 'fail'],
  ['v=spf1 redirect=_spf.relay.example ~all', '203.0.113.9', 'softfail'],
  ['v=spf1 redirect=nowhere.example', '192.0.2.7', 'permerror'],
  ['v=spf1 exists:%{i}.list.example.com -all', '192.0.2.7', 'pass'],
  ['v=spf1 exists:%{i}.list.example.com -all', '192.0.2.8', 'fail'],
  ['v=spf1 exists:%{I}.list.example.com -all', '192.0.2.7', 'pass'],
  ['v=spf1 exists:%{i1r}.%{d2}.list.example.com -all', '7.2.0.192', 'pass'],
  ['v=spf1 exists:%{i1}.%{d2}.list.example.com -all', '192.0.2.7', 'pass'],
  ['v=spf1 a:no1.example.com a:no2.example.com -all', '192.0.2.7', 'fail'],
  ['v=spf1 a:no1.example.com a:no2.example.com a:no3.example.com -all', '192.0.2.7', 'permerror'],
  [`v=spf1 ${includes(10)} -all`, '192.0.2.7', 'fail'],
  [`v=spf1 ${includes(11)} -all`, '192.0.2.7', 'permerror'],
  ['v=spf1 ip4:192.0.2.256 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 ip4:192.0.2.0/33 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 a:no1.example.com/32 ip4:192.0.2.7 -all', '192.0.2.7', 'pass'],
  ['v=spf1 a:no1.example.com/33 ip4:192.0.2.7 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 mx/24//128 ip4:192.0.2.7 -all', '192.0.2.7', 'pass'],
  ['v=spf1 mx/24//129 ip4:192.0.2.7 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 ip6:2001:db8::/129 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 mx:ten.example -all', '192.0.2.77', 'pass'],
  ['v=spf1 mx:ten.example -all', '192.0.2.7', 'fail'],
  ['v=spf1 A/24 -all', '192.0.2.200', 'pass'],
  ['v=spf1 Redirect=_spf.relay.example', '192.0.2.7', 'pass'],
  ['v=spf1 Include -all', '192.0.2.7', 'permerror'],
  ['v=spf1 ip4 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 ipv4:192.0.2.7 -all', '192.0.2.7', 'permerror'],
  ['v=spf1 include -all', '192.0.2.7', 'permerror'],
  ['v=spf1 all:example.com', '192.0.2.7', 'permerror'],
  ['v=spf1 redirect=a.example redirect=b.example', '192.0.2.7', 'permerror'],
  ['v=spf1 unknown=ignored ip4:192.0.2.7 -all', '192.0.2.7', 'pass'],
];

const sender = { local: 'postmaster', domain: 'example.com', helo: 'mail.example.com' };
const zoneWith = (record: string): Zone => ({
  ...elsewhere,
  ...included(11),
  'TXT example.com': ['something else', record],
});

for (const [record, ip, expected] of cases) {
  const short = record.length > 70 ? `${record.slice(0, 70)}...` : record;
  test(`${ip} is ${expected} by ${short}`, async () => {
    const zone = zoneWith(record);
    const { result, why } = await checkSpf(fakeResolver(zone), { ...sender, ip });
    assert.equal(result, expected, why ?? '');
    assert.equal(await asAnotherSees(zone, ip), expected, 'another implementation disagrees');
  });
}

/** The same question to mailauth, over the same names. */
async function asAnotherSees(zone: Zone, ip: string) {
  const dns = fakeResolver(zone);
  const ask = { TXT: dns.txt, MX: dns.mx, A: dns.a, AAAA: dns.aaaa, PTR: dns.ptr };
  const resolver = async (name: string, type: string) => {
    const answer = await ask[type as keyof typeof ask](name);
    if (answer.kind !== 'found') throw Object.assign(new Error(), { code: codes[answer.kind] });
    return type === 'TXT' ? answer.records.map((text) => [text]) : answer.records;
  };
  const { status } = await spf({
    ip,
    helo: sender.helo,
    sender: 'postmaster@example.com',
    resolver: resolver as NonNullable<Parameters<typeof spf>[0]['resolver']>,
  });
  return status.result;
}

const codes = { nothing: 'ENODATA', no_name: 'ENOTFOUND', failed: 'ESERVFAIL' };

test('a domain without a record has none, one with two has a mistake', async () => {
  const dns = fakeResolver(elsewhere);
  const check = async (domain: string) =>
    (await checkSpf(dns, { ...sender, domain, ip: '192.0.2.7' })).result;
  assert.deepEqual(
    await Promise.all(['two.example', 'none.example', 'broken.example'].map(check)),
    ['permerror', 'none', 'temperror'],
  );
});

test('a domain with more than ten mail exchangers is a mistake (RFC 7208, 4.6.4)', async () => {
  const zone = zoneWith('v=spf1 mx:eleven.example ip4:192.0.2.77 -all');
  assert.deepEqual(await checkSpf(fakeResolver(zone), { ...sender, ip: '192.0.2.77' }), {
    result: 'permerror',
    why: 'eleven.example has more than 10 mail exchangers',
  });
});

test('all that a record may cost is counted, for every sender', async () => {
  const measured = async (record: string) => {
    const { lookups } = await measureSpf(fakeResolver(zoneWith(record)), 'example.com');
    return lookups;
  };
  assert.equal(await measured('v=spf1 ip4:192.0.2.7 -all'), 0);
  assert.equal(await measured('v=spf1 a mx include:_spf.relay.example -all'), 3);
  assert.equal(await measured(`v=spf1 +all ${includes(11)}`), 0);
  assert.equal(await measured(`v=spf1 ${includes(11)} -all`), 11);
  assert.equal(await measured('v=spf1 redirect=_spf.relay.example'), 1);
  assert.equal(await measured('v=spf1 ip4:192.0.2.7 ~all redirect=_spf.relay.example'), 0);
  assert.equal(await measured('v=spf1 include:%{d}.x.example exists:%{i}.y.example ptr -all'), 3);
  assert.equal(await measured('v=spf1 include:loop.example -all'), 61, 'a loop is left');
});

test('no record is too odd to be read', () => {
  const term = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'a',
      'mx/24//64',
      'ip4:',
      'ip6:::1',
      'include:%{',
      'redirect=',
      '-all',
      'exists:%{ir}.x.example',
    ),
  );
  fc.assert(
    fc.property(fc.array(term), (terms) => {
      const { mechanisms, mistakes } = readSpf(['v=spf1', ...terms].join(' '));
      assert.ok(mechanisms.length + mistakes.length <= terms.join(' ').split(' ').length);
    }),
    { numRuns: 1000 },
  );
});
