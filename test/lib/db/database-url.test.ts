import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listUrls, needsWritableServer, validateDatabaseUrl } from '../../../src/lib/db/db.ts';

for (const url of [
  'postgres://askback@db/askback',
  'postgresql://askback:p%40ss@db:5433/askback?sslmode=require',
  'postgres:///askback?host=/run/postgresql',
  'postgres://a:5432,b:5433/askback',
  'postgres://u:p@a,b:5433,[::1]:5434/askback?target_session_attrs=read-write&sslmode=require',
  'postgres://a/askback?target_session_attrs=primary',
  `postgres://${Array.from({ length: 16 }, (_, at) => `h${at}`)}/askback`,
]) {
  test(`${url} is valid`, () => assert.equal(validateDatabaseUrl(url), undefined));
}

for (const [url, complaint] of [
  ['mysql://db/askback', /must be an address that begins with postgres/],
  ['postgres://db:port/askback', /must be an address such as/],
  ['postgres://askback:s3cret pw/x@db/askback', /percent-encoded \(\/ is %2F\)/],
  ['postgres://a:5432,b:x/askback', /must name each of several hosts/],
  ['postgres://a,,b/askback', /must name each of several hosts/],
  ['postgres://a,/askback', /must name each of several hosts/],
  ['postgres:///askback?host=a,b', /must name several hosts before the name of the database/],
  ['postgres://a,b/askback?host=/run/postgresql', /must name several hosts before the name/],
  [
    'postgres://a,b/askback?target_session_attrs=standby',
    /target_session_attrs=read-write, and not standby/,
  ],
  ['postgres://a/askback?target_session_attrs=any', /target_session_attrs=read-write, and not any/],
  [`postgres://${Array.from({ length: 17 }, (_, at) => `h${at}`)}/askback`, /at most 16 hosts/],
] as const) {
  test(`${url.slice(0, 70)} is rejected with a reason`, () => {
    assert.match(validateDatabaseUrl(url) ?? '', complaint);
  });
}

test('several hosts become one URL each, with port and options', () => {
  const url = 'postgres://u:p@a:1,[::1]:2,c/name?target_session_attrs=read-write&sslmode=require';
  assert.deepEqual(listUrls(url), [
    'postgres://u:p@a:1/name?sslmode=require',
    'postgres://u:p@[::1]:2/name?sslmode=require',
    'postgres://u:p@c/name?sslmode=require',
  ]);
  assert.equal(needsWritableServer(url), true);
});

test('a URL with one host stays as it is', () => {
  const url = 'postgres://u:p%25@a:1/name?sslmode=require&application_name=x%20y';
  assert.deepEqual(listUrls(url), [url]);
  assert.equal(needsWritableServer(url), false);
});

test('target_session_attrs is removed and requires a writable server', () => {
  for (const [url, single] of [
    ['postgres://a/name?target_session_attrs=primary', 'postgres://a/name'],
    [
      'postgres://a/name?application_name=x?y&target_session_attrs=primary',
      'postgres://a/name?application_name=x%3Fy',
    ],
  ] as const) {
    assert.deepEqual(listUrls(url), [single]);
    assert.equal(needsWritableServer(url), true);
  }
  assert.equal(needsWritableServer('postgres://a,b/name'), true);
});
