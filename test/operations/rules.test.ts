import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../src/operations/rules.ts';
import * as rules from '../../src/operations/rules.ts';

const at = (ms: number) => new Date(1_800_000_000_000 + ms);
const clock = (skew: number) =>
  rules.judgeClock({ before: at(0), database: at(skew + 5), after: at(10) });
const disk = (mib: number) => rules.judgeDisk({ path: '/data', freeBytes: mib * 1024 ** 2 });
type Served = { host?: string; isLocal?: boolean; links?: string };
const url = (
  publicUrl: string | null,
  { host = '127.0.0.1', isLocal = false, links }: Served = {},
) =>
  rules.judgePublicUrl({
    publicUrl,
    host,
    port: 8080,
    isLocal,
    links: links ?? `http://${host}:8080`,
  });
const server = (major: number, { read_only = false, folds = true } = {}) =>
  rules.judgeServer({
    version: `${major}.1`,
    major,
    read_only,
    folds,
    oldestMajor: 15,
    setting: 'DATABASE_URL',
  });

const cases: [why: string, finding: Finding, said: string][] = [
  ['PostgreSQL 15 is new enough', server(15), 'ok database: PostgreSQL 15.1 answers'],
  [
    'PostgreSQL 14 is too old',
    server(14),
    'fail database: PostgreSQL 14.1: askback needs 15 or newer',
  ],
  [
    'a replica cannot be written',
    server(18, { read_only: true }),
    'fail database: PostgreSQL 18.1 is a replica that cannot be written; DATABASE_URL must name the primary',
  ],
  [
    'an old replica is too old',
    server(14, { read_only: true, folds: false }),
    'fail database: PostgreSQL 14.1: askback needs 15 or newer',
  ],
  [
    'a replica cannot be written, whatever its letters',
    server(18, { read_only: true, folds: false }),
    'fail database: PostgreSQL 18.1 is a replica that cannot be written; DATABASE_URL must name the primary',
  ],
  [
    'Turkish letters are not compared as addresses are',
    server(18, { folds: false }),
    'fail database: the database writes I in lower case as ı: create it again with another locale',
  ],
  [
    'both extensions are needed',
    rules.judgeExtensions({ extensions: ['pg_trgm'] }),
    'fail extensions: btree_gin cannot be installed: the server lacks its contrib modules',
  ],
  [
    'both extensions are enough',
    rules.judgeExtensions({ extensions: ['btree_gin', 'pg_trgm'] }),
    'ok extensions: btree_gin, pg_trgm are there',
  ],
  [
    'a missing migration is worth a warning',
    rules.judgeSchema({ applied: 1, missing: ['2'], unknown: [] }),
    'warn schema: 1 migration is missing: run `askback migrate`, or start `askback serve`',
  ],
  [
    'an unknown migration is a failure',
    rules.judgeSchema({ applied: 2, missing: [], unknown: ['3'] }),
    'fail schema: the database is newer than this askback: it has 3',
  ],
  [
    'a migration that is unknown counts before one that is missing',
    rules.judgeSchema({ applied: 2, missing: ['2'], unknown: ['3'] }),
    'fail schema: the database is newer than this askback: it has 3',
  ],
  ['clocks agree', clock(0), "ok clock: the database's clock is 0 ms ahead of this machine's"],
  [
    'a clock may differ by less than two seconds',
    clock(1999),
    "ok clock: the database's clock is 1999 ms ahead of this machine's",
  ],
  [
    'a clock two seconds ahead is worth a warning',
    clock(2000),
    "warn clock: the database's clock is 2000 ms ahead of this machine's",
  ],
  [
    'a clock two seconds behind is worth a warning',
    clock(-2000),
    "warn clock: the database's clock is 2000 ms behind this machine's",
  ],
  [
    'a clock a minute off is a failure',
    clock(60_000),
    "fail clock: the database's clock is 60000 ms ahead of this machine's: set both by NTP",
  ],
  [
    'half a millisecond is rounded',
    rules.judgeClock({ before: at(0), database: at(3), after: at(5) }),
    "ok clock: the database's clock is 1 ms ahead of this machine's",
  ],
  ['a gibibyte free is fine', disk(1024), 'ok disk: 1024 MiB free in /data'],
  ['less than a gibibyte free is worth a warning', disk(1023), 'warn disk: 1023 MiB free in /data'],
  [
    'a byte less than a gibibyte free is worth a warning',
    disk(1024 - 1 / 1024 ** 2),
    'warn disk: 1023 MiB free in /data',
  ],
  [
    'a byte less than 100 MiB free is a failure',
    disk(100 - 1 / 1024 ** 2),
    'fail disk: 99 MiB free in /data',
  ],
  ['100 MiB free are worth a warning', disk(100), 'warn disk: 100 MiB free in /data'],
  ['less than 100 MiB free is a failure', disk(99), 'fail disk: 99 MiB free in /data'],
  ['an https public URL is fine', url('https://a.example'), 'ok public URL: https://a.example'],
  [
    'an https public URL of this machine is fine',
    url('https://localhost', { isLocal: true }),
    'ok public URL: https://localhost',
  ],
  [
    'plain http in public is worth a warning',
    url('http://a.example'),
    'warn public URL: http://a.example is not https: answers travel in the clear',
  ],
  [
    'plain http on this machine is fine',
    url('http://localhost:8080', { isLocal: true }),
    'ok public URL: http://localhost:8080 works on this machine only',
  ],
  [
    'a wildcard HOST cannot be in links',
    url(null, { host: '0.0.0.0' }),
    'warn public URL: links in mails would begin with http://0.0.0.0:8080: set ASKBACK_PUBLIC_URL',
  ],
  [
    'a loopback HOST needs no public URL',
    url(null, { isLocal: true }),
    'ok public URL: ASKBACK_PUBLIC_URL is not set: links work where http://127.0.0.1:8080 does',
  ],
  [
    'a damaged secret key is a failure',
    rules.judgeSecret({ from: 'nowhere', why: 'damaged' }),
    'fail secret key: damaged',
  ],
  [
    'a secret key may be generated by the first start',
    rules.judgeSecret({ from: 'to be generated' }),
    'ok secret key: will be generated into the data directory by the first `askback serve`',
  ],
  [
    'a secret key that opens no stored secret is a failure',
    rules.judgeSecret({ from: 'environment', unreadable: 'wrong' }),
    'fail secret key: wrong',
  ],
  [
    'two missing migrations are worth a warning',
    rules.judgeSchema({ applied: 1, missing: ['2', '3'], unknown: [] }),
    'warn schema: 2 migrations are missing: run `askback migrate`, or start `askback serve`',
  ],
  [
    'all migrations are there',
    rules.judgeSchema({ applied: 3, missing: [], unknown: [] }),
    'ok schema: all 3 migrations are applied',
  ],
  [
    'a clock a minute behind is a failure',
    clock(-60_000),
    "fail clock: the database's clock is 60000 ms behind this machine's: set both by NTP",
  ],
  [
    'a clock less than a minute off is worth a warning',
    clock(59_999),
    "warn clock: the database's clock is 59999 ms ahead of this machine's",
  ],
  [
    'a secret key of the environment',
    rules.judgeSecret({ from: 'environment' }),
    'ok secret key: given as ASKBACK_SECRET_KEY',
  ],
  [
    'a secret key of a file',
    rules.judgeSecret({ from: 'file' }),
    'ok secret key: kept in the data directory',
  ],
  [
    'a wildcard HOST of IPv6 cannot be in links',
    url(null, { host: '::', isLocal: true }),
    'warn public URL: links in mails would begin with http://[::]:8080: set ASKBACK_PUBLIC_URL',
  ],
  [
    'without a public URL links lead to where the service listens',
    url(null, { isLocal: true, links: 'http://127.0.0.1:9000' }),
    'ok public URL: ASKBACK_PUBLIC_URL is not set: links work where http://127.0.0.1:9000 does',
  ],
  [
    'without a public URL links lead to HOST',
    url(null, { host: '192.0.2.1' }),
    'warn public URL: ASKBACK_PUBLIC_URL is not set: links work where http://192.0.2.1:8080 does',
  ],
  [
    'a replica that follows',
    rules.judgeReplica(undefined),
    'ok replica: ASKBACK_READ_DATABASE_URL follows the primary',
  ],
  [
    'a replica that does not follow',
    rules.judgeReplica('is 9 s behind'),
    'warn replica: ASKBACK_READ_DATABASE_URL is 9 s behind; the primary answers its reads',
  ],
];

for (const [why, { status, name, message }, said] of cases) {
  test(why, () => assert.equal(`${status} ${name}: ${message}`, said));
}
