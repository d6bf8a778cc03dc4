import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesOf, createResolver } from '../../../src/operations/doctor-dns.ts';
import { nameServer, noAnswer, servfail } from '../../support/fakes/dns.ts';

const long = `v=DKIM1; p=${'x'.repeat(700)}`;
const { server, seen } = await nameServer({
  'TXT example.com': ['v=spf1 -all', 'another'],
  'MX example.com': ['10 mx.example.com'],
  'A mx.example.com': ['192.0.2.1'],
  'AAAA mx.example.com': ['2001:db8:0:0:0:0:0:1'],
  'PTR 1.2.0.192.in-addr.arpa': ['mx.example.com'],
  'TXT long.example.com': [long],
  'TXT broken.example.com': [servfail],
  'TXT silent.example.com': [noAnswer],
  'TXT once.example.com': ['said'],
});
const dns = createResolver({ server });

test('the resolver asks the configured server for every type', async () => {
  assert.deepEqual(await dns('TXT', 'example.com'), {
    kind: 'found',
    records: ['v=spf1 -all', 'another'],
  });
  assert.deepEqual(await dns('MX', 'example.com'), {
    kind: 'found',
    records: [{ exchange: 'mx.example.com', priority: 10, type: 'MX' }],
  });
  assert.deepEqual(await dns('PTR', '192.0.2.1'), {
    kind: 'found',
    records: ['mx.example.com'],
  });
  assert.deepEqual(await addressesOf(dns, 'mx.example.com'), {
    kind: 'found',
    records: ['192.0.2.1', '2001:db8::1'],
  });
});

test('the resolver fetches long records over TCP', async () => {
  assert.deepEqual(await dns('TXT', 'long.example.com'), { kind: 'found', records: [long] });
  assert.ok(seen.includes('tcp TXT long.example.com'), seen.join('\n'));
});

test('the resolver distinguishes missing names from missing records', async () => {
  assert.deepEqual(await dns('TXT', 'unknown.example.net'), { kind: 'no_name' });
  assert.deepEqual(await dns('TXT', 'mx.example.com'), { kind: 'nothing' });
});

test('the resolver reports failing servers', async () => {
  const answer = await dns('TXT', 'broken.example.com');
  assert.equal(answer.kind, 'failed');
  assert.match(answer.kind === 'failed' ? answer.why : '', /SERVFAIL/);
});

test('the resolver gives up on a silent server in time', async () => {
  const begun = performance.now();
  const answer = await createResolver({ server, timeoutMs: 400 })('TXT', 'silent.example.com');
  assert.deepEqual(answer, { kind: 'failed', why: 'no name server answered within 0.4 seconds' });
  assert.ok(performance.now() - begun < 5000);
});
