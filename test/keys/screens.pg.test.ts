import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandWriter } from '../../src/audit/acts.ts';
import { createKey } from '../../src/keys/manage.ts';
import { listKeys } from '../../src/keys/queries.ts';
import { makeOrganization } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function owner() {
  const orgId = await makeOrganization(db);
  const browser = await memberBrowser(db, { app, org: orgId });
  return { orgId, ...browser, keys: `${browser.home}/settings/api-keys` };
}

const keyIn = (html: string) => /ask_live_\w{8}_[\w-]{49}/.exec(html)?.[0];

test('a new key is shown once, works and is audited', async () => {
  const { orgId, keys, post, get } = await owner();
  const made = await post(keys, { name: 'website', permission: 'write', expires: '90d' });
  assert.deepEqual([made.status, made.headers.get('Location')], [303, keys]);
  assert.equal(keyIn(made.headers.get('Set-Cookie') ?? ''), undefined);

  const key = keyIn(await (await get(keys)).text());
  assert.ok(key);
  assert.equal(keyIn(await (await get(keys)).text()), undefined);
  const answer = await app.request('/api/v1/surveys', { headers: { 'X-API-Key': key } });
  assert.equal(answer.status, 200);

  const [row] = await listKeys(db, orgId);
  assert.deepEqual([row!.name, row!.permission], ['website', 'write']);
  const days = (row!.expires_at!.getTime() - Date.now()) / 86_400_000;
  assert.ok(days > 89 && days <= 90);
  const [event] = await db`select act, actor_kind, actor from audit_events where org_id = ${orgId}`;
  assert.deepEqual({ ...event }, { act: 'key.created', actor_kind: 'member', actor: 'Ann' });
});

test('revoking asks first and takes effect with the next request', async () => {
  const { orgId, keys, get, submit } = await owner();
  const { id, key } = await createKey(db, commandWriter(orgId), { name: 'old' });
  const page = await get(`${keys}/${id}/revoke`);
  assert.match(await page.text(), /stops working immediately/);
  const list = await (await submit(`${keys}/${id}/revoke`)).text();
  assert.match(list, /Key “old” revoked\./);
  assert.match(list, /<bdi>old<\/bdi>.*>Revoked</s);
  assert.doesNotMatch(list, /\/revoke"/);
  const answer = await app.request('/api/v1/surveys', { headers: { 'X-API-Key': key } });
  assert.equal(answer.status, 401);
});
