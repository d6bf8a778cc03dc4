import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../src/operations/finding.ts';
import * as rules from '../../src/operations/rules.ts';

const at = (ms: number) => new Date(1_800_000_000_000 + ms);
const clock = (skew: number) =>
  rules.judgeClock({ before: at(0), database: at(skew + 5), after: at(10) });
const disk = (mib: number) => rules.judgeDisk({ path: '/data', freeBytes: mib * 1024 ** 2 });
const url = (publicUrl: string | null, host = '127.0.0.1') =>
  rules.judgePublicUrl({ publicUrl, host, port: 8080 });
const server = (major: number, { read_only = false, folds = true } = {}) =>
  rules.judgeServer({ version: `${major}.1`, major, read_only, folds });

const cases: [why: string, finding: Finding, status: Finding['status']][] = [
  ['PostgreSQL 15 is new enough', server(15), 'ok'],
  ['PostgreSQL 14 is too old', server(14), 'fail'],
  ['a replica cannot be written', server(18, { read_only: true }), 'fail'],
  ['Turkish letters are not compared as addresses are', server(18, { folds: false }), 'fail'],
  ['both extensions are needed', rules.judgeExtensions({ extensions: ['pg_trgm'] }), 'fail'],
  [
    'both extensions are enough',
    rules.judgeExtensions({ extensions: ['btree_gin', 'pg_trgm'] }),
    'ok',
  ],
  [
    'a missing migration can wait',
    rules.judgeSchema({ applied: 1, missing: ['2'], unknown: [] }),
    'warn',
  ],
  [
    'an unknown migration cannot',
    rules.judgeSchema({ applied: 2, missing: [], unknown: ['3'] }),
    'fail',
  ],
  ['a clock may differ a little', clock(1999), 'ok'],
  ['two seconds are worth a word', clock(2000), 'warn'],
  ['behind counts as ahead does', clock(-2000), 'warn'],
  ['a minute is wrong', clock(60_000), 'fail'],
  ['a gibibyte free is fine', disk(1024), 'ok'],
  ['less is not', disk(1023), 'warn'],
  ['nothing works on a full disk', disk(99), 'fail'],
  ['https is fine', url('https://a.example'), 'ok'],
  ['http in public is not', url('http://a.example'), 'warn'],
  ['http at home is', url('http://localhost:8080'), 'ok'],
  ['a wildcard is no address', url(null, '0.0.0.0'), 'warn'],
  ['at home the address goes without saying', url(null), 'ok'],
  ['no secret, no service', rules.judgeSecret({ from: 'nowhere', why: 'damaged' }), 'fail'],
  [
    'a secret that comes with the first start',
    rules.judgeSecret({ from: 'to be generated' }),
    'ok',
  ],
];

for (const [why, finding, status] of cases) {
  test(why, () => assert.equal(finding.status, status, finding.message));
}

test('the skew is told with its direction', () => {
  assert.equal(clock(-30).message, "the database's clock is 30 ms behind this machine's");
});
