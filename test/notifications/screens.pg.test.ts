import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeOrganization } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';

const { db } = await testDatabase();
const app = bareApp(db);

async function viewer() {
  const orgId = await makeOrganization(db, { time_zone: 'Europe/Oslo' });
  const browser = await memberBrowser(db, { app, org: orgId, role: 'viewer' });
  return { orgId, ...browser, page: `${browser.home}/settings/notifications` };
}

test('member of any role chooses notifications', async () => {
  const { orgId, page, get, submit } = await viewer();
  assert.match(await (await get(page)).text(), /<option selected="">Europe\/Oslo</);
  const form = { events: ['held', 'detractor'], digest: 'week', time_zone: 'UTC' };
  const html = await (await submit(page, form)).text();
  assert.match(html, /Notifications saved\./);
  assert.match(html, /value="held" checked/);
  assert.match(html, /value="week" selected/);
  assert.doesNotMatch(html, /value="webhook_off" checked/);
  const [event] = await db`select act, details from audit_events where org_id = ${orgId}`;
  const changes = {
    events: { from: [], to: ['held', 'detractor'] },
    digest: { from: 'none', to: 'week' },
    time_zone: { from: 'Europe/Oslo', to: 'UTC' },
  };
  assert.deepEqual({ ...event }, { act: 'notifications.changed', details: { changes } });
});

test('choosing no notification is saved', async () => {
  const { orgId, page, post } = await viewer();
  await post(page, { events: 'held', digest: 'day', time_zone: 'UTC' });
  await post(page, { digest: 'none', time_zone: 'UTC' });
  const [row] = await db`select events, digest from notification_choices where org_id = ${orgId}`;
  assert.deepEqual({ ...row }, { events: [], digest: 'none' });
});

for (const time_zone of ['Mars', 'VST'])
  test(`unknown time zone returns 422 and keeps the choices: ${time_zone}`, async () => {
    const { page, post } = await viewer();
    const answer = await post(page, { events: 'held', digest: 'day', time_zone });
    const html = await answer.text();
    assert.equal(answer.status, 422);
    assert.match(html, /value="held" checked/);
    assert.match(html, /id="time_zone-error"/);
  });

test('leaving the organization deletes the choices', async () => {
  const { orgId, page, post } = await viewer();
  await post(page, { events: 'held', digest: 'day', time_zone: 'UTC' });
  await db`delete from memberships where org_id = ${orgId}`;
  assert.equal((await db`select from notification_choices where org_id = ${orgId}`).length, 0);
});
