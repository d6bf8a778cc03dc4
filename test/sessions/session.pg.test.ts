import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type ErrorHandler, Hono } from 'hono';
import { answerError } from '../../src/lib/http/http.ts';
import { createLog } from '../../src/lib/log/log.ts';
import { deleteOldSessions } from '../../src/sessions/queries.ts';
import {
  inOrganization,
  requireRecentProof,
  requireRole,
  type ScreenEnv,
  signedIn,
} from '../../src/sessions/session.ts';
import { makeOrganization } from '../support/make/rows.ts';
import {
  joinOrganization,
  makeMember,
  signIn,
  slugOfOrganization,
} from '../support/make/session.ts';
import { testDatabase } from '../support/probe/database.ts';
import { noticeOf } from '../support/probe/notice.ts';

const { db } = await testDatabase();
const tools = { db, publicUrl: 'https://askback.test' };
const app = new Hono()
  .onError(answerError(createLog({ level: 'silent' }), () => undefined) as ErrorHandler)
  .route(
    '/',
    new Hono<ScreenEnv>()
      .use('/account', signedIn(tools))
      .get('/account', (c) => c.json(c.var.member))
      .post('/account', (c) => c.text('done'))
      .use('/o/:slug/*', inOrganization(tools))
      .get('/o/:slug/', (c) => c.json([c.var.organization, c.var.otherOrganizations]))
      .post('/o/:slug/', (c) => c.json([c.var.organization.slug, requireRole(c, 'editor').orgId]))
      .post('/o/:slug/keys', (c) => {
        const { orgId } = requireRole(c, 'owner');
        requireRecentProof(c);
        return c.text(orgId);
      }),
  );

const ask = (path: string, headers = {}, method = 'GET') =>
  app.request(`https://askback.test${path}`, { method, headers });
const post = (path: string, headers = {}) => ask(path, headers, 'POST');

async function organizationWithSlug() {
  const id = await makeOrganization(db);
  return { id, slug: await slugOfOrganization(db, id) };
}

test('a visitor is redirected to sign in, and their form is refused', async () => {
  const page = await ask('/o/acme/responses?tag=a');
  assert.equal(page.status, 303);
  assert.equal(page.headers.get('Location'), '/sign-in?next=%2Fo%2Facme%2Fresponses%3Ftag%3Da');
  assert.equal((await post('/o/acme/')).status, 403);
  assert.equal((await ask('/account')).headers.get('Location'), '/sign-in?next=%2Faccount');
  assert.equal((await post('/account')).status, 403);
  assert.equal((await post('/account', await signIn(db))).status, 200);
});

test('only an expired session is reported on the sign-in page', async () => {
  const cookie = await signIn(db);
  await db`delete from sessions`;
  assert.equal(noticeOf(await ask('/account', cookie))?.kind, 'warning');
  assert.equal((await ask('/account')).headers.get('Set-Cookie'), null);
});

test("a page knows the member's role and other organizations", async () => {
  const [here, there] = [await organizationWithSlug(), await organizationWithSlug()];
  const member = await makeMember(db);
  await joinOrganization(db, { org: there.id, member, role: 'owner' });
  const cookie = await signIn(db, { member, org: here.id, role: 'viewer' });

  const page = await ask(`/o/${here.slug}/`, cookie);
  const [organization, others] = (await page.json()) as [unknown, unknown];
  const counts = { openDetractors: 0, failingWebhooks: 0 };
  const shown = { name: 'Acme', color: '#2f6fed', timeZone: 'UTC', role: 'viewer' };
  assert.deepEqual(organization, { ...here, ...shown, ...counts });
  assert.deepEqual(others, [{ name: 'Acme', slug: there.slug, color: '#2f6fed' }]);
});

test('a former slug redirects members and accepts their forms', async () => {
  const { id, slug } = await organizationWithSlug();
  const earlier = `earlier-${randomUUID()}`;
  await db`insert into former_slugs ${db({ slug: earlier, org_id: id })}`;
  const cookie = await signIn(db, { org: id });

  const answer = await ask(`/o/${earlier}/?a=b`, cookie);
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get('Location'), `/o/${slug}/?a=b`);
  assert.deepEqual(await (await post(`/o/${earlier}/`, cookie)).json(), [slug, id]);
  assert.equal((await ask(`/o/${earlier}/`, await signIn(db))).status, 404);
});

test('a removed role takes effect with the next request', async () => {
  const { id, slug } = await organizationWithSlug();
  const member = await makeMember(db);
  const cookie = await signIn(db, { member, org: id, role: 'editor' });
  assert.equal((await post(`/o/${slug}/`, cookie)).status, 200);
  await joinOrganization(db, { org: id, member, role: 'viewer' });
  assert.equal((await post(`/o/${slug}/`, cookie)).status, 403);
  await db`delete from memberships where member_id = ${member}`;
  assert.equal((await ask(`/o/${slug}/`, cookie)).status, 404);
});

test('an owner action requires a new proof after an hour', async () => {
  const { id, slug } = await organizationWithSlug();
  const member = await makeMember(db);
  const cookie = await signIn(db, { member, org: id });
  const prove = async (ago: string) => {
    await db`update sessions set proved_at = now() - ${ago}::interval where member_id = ${member}`;
    const Referer = `https://askback.test/o/${slug}/settings/api-keys`;
    return await post(`/o/${slug}/keys`, { ...cookie, Referer });
  };
  assert.equal((await prove('59 minutes')).status, 200);
  const asked = await prove('1 hour');
  assert.equal(asked.status, 303);
  const next = encodeURIComponent(`/o/${slug}/settings/api-keys`);
  assert.equal(asked.headers.get('Location'), `/account/prove?next=${next}`);
});

for (const [when, column, ago, status] of [
  ['used within 30 days', 'used_at', '29 days 23 hours', 200],
  ['not used for 30 days', 'used_at', '30 days 1 minute', 303],
  ['begun within 90 days', 'created_at', '89 days 23 hours', 200],
  ['begun more than 90 days ago', 'created_at', '90 days 1 minute', 303],
] as const) {
  test(`a session ${when} gives ${status} and is cleaned up once expired`, async () => {
    const member = await makeMember(db);
    const cookie = await signIn(db, { member });
    await db`update sessions set ${db(column)} = now() - ${ago}::interval where member_id = ${member}`;
    assert.equal((await ask('/account', cookie)).status, status);
    await deleteOldSessions(db);
    const left = await db`select from sessions where member_id = ${member}`;
    assert.equal(left.length, status === 200 ? 1 : 0);
  });
}

test('a session that awaits a code opens nothing', async () => {
  const member = await makeMember(db);
  const cookie = await signIn(db, { member });
  await db`update sessions set awaits_code = true where member_id = ${member}`;
  assert.equal((await ask('/account', cookie)).status, 303);
});

test('sessions are stored as hashes of their cookies', async () => {
  const { Cookie } = await signIn(db);
  const token = Cookie.split('=').at(-1)!;
  const [{ hash }] = (await db`
    select encode(token_hash, 'base64') as hash from sessions
    where token_hash = sha256(${token}::bytea)`) as unknown as [{ hash: string }];
  assert.equal(Buffer.from(hash, 'base64').length, 32);
  for (const wrong of ['', 'a', token.slice(1), `${token}a`, hash, token.toUpperCase()]) {
    const answer = await ask('/account', { Cookie: `__Host-askback=${wrong}` });
    assert.equal(answer.status, 303, wrong);
  }
  // Https must ignore the cookie of plain http, which a sibling host could have set.
  assert.equal((await ask('/account', { Cookie: `askback_session=${token}` })).status, 303);
});
