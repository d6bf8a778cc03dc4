import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { signIn, slugOfOrganization } from '../support/make/session.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { type RouteAccess, roleTable } from './role-table.ts';

const { db } = await testDatabase();
const app = bareApp(db);
const org = await makeOrganization(db);
const slug = await slugOfOrganization(db, org);
const elsewhere = await makeOrganization(db);

const readers = {
  visitor: async () => ({}),
  'member of another organization': () => signIn(db, { org: elsewhere, role: 'owner' }),
  'operator of the deployment': () => signIn(db, { operator: true }),
  viewer: () => signIn(db, { org, role: 'viewer' }),
  editor: () => signIn(db, { org, role: 'editor' }),
  owner: () => signIn(db, { org, role: 'owner' }),
} as const;
type Reader = keyof typeof readers;

/** The API and pages without members. All other routes belong to the app. */
const others =
  /^\/(api|s|f|e|u|mailbox|docs|embed|logos?|mcp|metrics|healthz|readyz|\.well-known)(\/|$)|^\/[\w.-]+\.(json|txt|ico|js)$|^\/$/;

const routes = new Set(
  app.routes
    .filter(({ method, path }) => method !== 'ALL' && !others.test(path))
    .map(({ method, path }) => `${method} ${path}`),
);

test('the role table lists every route of the app', () => {
  const rows = new Set(Object.keys(roleTable));
  assert.deepEqual(
    [...routes].filter((route) => !rows.has(route)),
    [],
    'routes without a row in role-table.ts',
  );
  assert.deepEqual(
    [...rows].filter((row) => !routes.has(row)),
    [],
    'rows without a route',
  );
});

for (const [route, access] of Object.entries(roleTable)) {
  test(`${route}: ${access}`, async () => {
    for (const reader of Object.keys(readers) as Reader[]) {
      const { status, location } = await open(route, reader);
      const said = `${reader} gets ${status} ${location}`;
      const expected = expectedOf(access, reader, route.startsWith('GET'));
      if (expected === 'let in') {
        // The target does not have to exist, and an empty form has errors.
        assert.ok(![401, 403, 405].includes(status) && status < 500, said);
        assert.ok(!location.startsWith('/sign-in'), said);
        if (/^GET [^:]*(:slug[^:]*)?$/.test(route) && !route.endsWith('/oidc'))
          assert.ok([200, 303].includes(status), said);
      } else if (expected === 'led to sign in') {
        assert.ok(status === 303 && location.startsWith('/sign-in?next='), said);
      } else assert.equal(status, expected, said);
    }
  });
}

async function open(route: string, reader: Reader) {
  const [method = '', template = ''] = route.split(' ');
  const path = template.replace(':slug', slug).replace(/:\w+/g, () => randomUUID());
  const answer = await app.request(path, {
    method,
    headers: { Accept: 'text/html', ...(await readers[reader]()) },
    ...(method === 'POST' && { body: new URLSearchParams() }),
  });
  await answer.body?.cancel();
  return { status: answer.status, location: answer.headers.get('Location') ?? '' };
}

const roles = ['viewer', 'editor', 'owner'];

function expectedOf(access: RouteAccess, reader: Reader, isRead: boolean) {
  if (typeof access === 'number') return access;
  if (reader === 'visitor') return isRead ? 'led to sign in' : 403;
  if (access === 'signed in') return 'let in';
  if (access === 'operator') return reader === 'operator of the deployment' ? 'let in' : 404;
  if (!roles.includes(reader)) return 404;
  return roles.indexOf(reader) >= roles.indexOf(access) ? 'let in' : 403;
}
