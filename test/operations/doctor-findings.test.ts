import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../src/operations/findings.ts';
import * as findings from '../../src/operations/findings.ts';

const at = (ms: number) => new Date(1_800_000_000_000 + ms);
const clock = (skew: number) =>
  findings.judgeClock({ before: at(0), database: at(skew + 5), after: at(10) });
const disk = (mib: number) => findings.judgeDisk({ path: '/data', freeBytes: mib * 1024 ** 2 });
const url = (publicUrl: string | null, { host = '127.0.0.1', isLocal = false } = {}) =>
  findings.judgePublicUrl(publicUrl, { host, port: 8080, isLocal, links: `http://${host}:8080` });
const server = (major: number, { read_only = false, folds = true } = {}) =>
  findings.judgeServer({ version: `${major}.1`, major, read_only, folds }, 'DATABASE_URL');
const schema = (missing: string[], unknown: string[] = []) =>
  findings.judgeSchema({ applied: 1, missing, unknown });

const cases: [subject: string, finding: Finding, status: Finding['status'], says?: RegExp][] = [
  ['PostgreSQL 15', server(15), 'ok'],
  ['PostgreSQL 14', server(14), 'fail', /needs 15 or newer/],
  ['a patched server', findings.judgeVersion({ number: 180_006, version: '18.6' }), 'ok'],
  [
    'a server with known vulnerabilities',
    findings.judgeVersion({ number: 150_018, version: '15.18' }),
    'warn',
    /15\.18 has vulnerabilities that 15\.19 fixes/,
  ],
  ['functions that reporters misuse', findings.judgeReporters(3)[0]!, 'warn', /ops\/reports\.md/],
  ['a server that takes no writes', server(18, { read_only: true }), 'fail', /DATABASE_URL/],
  ['a Turkish locale', server(18, { folds: false }), 'fail', /another locale/],
  [
    'one extension of two',
    findings.judgeExtensions({ extensions: ['pg_trgm'] }),
    'fail',
    /^btree_gin cannot/,
  ],
  ['both extensions', findings.judgeExtensions({ extensions: ['btree_gin', 'pg_trgm'] }), 'ok'],
  ['a schema with all migrations', schema([]), 'ok'],
  ['a missing migration', schema(['2']), 'warn', /^1 migration is missing/],
  ['an unknown migration', schema(['2'], ['3']), 'fail', /newer than this askback: it has 3/],
  ['a clock 1.9 s off', clock(1999), 'ok'],
  ['a clock 2 s ahead', clock(2000), 'warn', /2000 ms ahead/],
  ['a clock 2 s behind', clock(-2000), 'warn', /2000 ms behind/],
  ['a clock a minute off', clock(-60_000), 'fail', /NTP/],
  ['a disk with 1 GiB', disk(1024), 'ok'],
  ['a disk with less than 1 GiB', disk(1023), 'warn', /1023 MiB free in \/data/],
  ['a disk with less than 100 MiB', disk(99), 'fail'],
  ['an https public URL', url('https://a.example'), 'ok'],
  ['an http public URL', url('http://a.example'), 'warn', /not https/],
  ['an http public URL of this machine', url('http://localhost', { isLocal: true }), 'ok'],
  ['a wildcard HOST', url(null, { host: '0.0.0.0' }), 'warn', /set ASKBACK_PUBLIC_URL/],
  ['a loopback HOST', url(null, { isLocal: true }), 'ok'],
  ['a HOST that others reach', url(null, { host: '192.0.2.1' }), 'warn'],
];

for (const [subject, finding, status, says = /./] of cases) {
  test(`doctor finds ${status} for ${subject}`, () => {
    assert.equal(finding.status, status);
    assert.match(finding.message, says);
  });
}
