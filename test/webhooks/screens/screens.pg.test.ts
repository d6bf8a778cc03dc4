import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { AppTools } from '../../../src/app.ts';
import { subscriber } from '../../support/fakes/subscriber.ts';
import { addDeliveries, type DeliveryFields } from '../../support/make/delivery-rows.ts';
import { makeOrganization, makeWebhook } from '../../support/make/rows.ts';
import { bareApp } from '../../support/probe/app.ts';
import { testDatabase } from '../../support/probe/database.ts';
import { memberBrowser } from '../../support/probe/member.ts';
import { noticeOf } from '../../support/probe/notice.ts';

const { db } = await testDatabase();

async function scene(role: 'viewer' | 'editor' = 'editor', over: Partial<AppTools> = {}) {
  const app = bareApp(db, over);
  const orgId = await makeOrganization(db);
  const browser = await memberBrowser(db, { app, org: orgId, role });
  return { orgId, ...browser, list: `${browser.home}/webhooks` };
}

const fields = { url: 'https://hooks.test/askback', events: 'response.received', description: '' };
const secretIn = (html: string) => /whsec_[\w+/=]+/.exec(html)?.[0];

async function made(place: Awaited<ReturnType<typeof scene>>) {
  const answer = await place.post(place.list, fields);
  assert.equal(answer.status, 303);
  const here = answer.headers.get('Location')!;
  const secret = secretIn(await (await place.get(here)).text());
  assert.ok(secret);
  return { here, secret, id: here.split('/').at(-1)! };
}

test('creating a webhook shows its secret once', async () => {
  const place = await scene();
  const { here, id } = await made(place);
  assert.equal(secretIn(await (await place.get(here)).text()), undefined);
  const [row] = await db`select url, events, description from webhooks where id = ${id}`;
  assert.deepEqual(
    { ...row },
    { url: fields.url, events: ['response.received'], description: null },
  );
  assert.match(await (await place.get(place.list)).text(), /hooks\.(<wbr\/>)?test\/<wbr\/>askback/);
});

test('an invalid form returns 422 with errors and the input', async () => {
  const place = await scene();
  for (const [over, sentence] of [
    [{ url: 'https://10.0.0.1/x' }, /10\.0\.0\.1/],
    [{ url: 'ftp://hooks.test' }, /https/],
    [{ events: [] }, /Choose at least one event/],
    [{ events: ['no.such.event'] }, /Unknown event/],
  ] as const) {
    const answer = await place.post(place.list, { ...fields, ...over } as never);
    const html = await answer.text();
    assert.equal(answer.status, 422);
    assert.match(html, sentence);
    assert.ok(html.includes(`value="${'url' in over ? over.url : fields.url}"`));
  }
  assert.equal((await db`select from webhooks where org_id = ${place.orgId}`).length, 0);
});

test('a webhook can be edited, turned off and on, and deleted', async () => {
  const place = await scene();
  const { here, id } = await made(place);
  const stored = async () => (await db`select url, active from webhooks where id = ${id}`)[0];
  await place.post(`${here}/edit`, { ...fields, url: 'https://other.test/x' });
  await place.post(`${here}/switch-off`, {});
  assert.deepEqual({ ...(await stored()) }, { url: 'https://other.test/x', active: false });
  assert.match(await (await place.get(here)).text(), /turned off manually/);
  await place.post(`${here}/switch-on`, {});
  assert.equal((await stored())!['active'], true);
  assert.match(await (await place.get(`${here}/delete`)).text(), /can no longer be replayed/);
  assert.equal((await place.post(`${here}/delete`, {})).headers.get('Location'), place.list);
  assert.equal(await stored(), undefined);
});

test('rotating a secret shows the new one', async () => {
  const place = await scene();
  const { here, secret } = await made(place);
  assert.match(await (await place.get(`${here}/rotate-secret`)).text(), /24\s+hours/);
  await place.post(`${here}/rotate-secret`, {});
  const html = await (await place.get(here)).text();
  const next = secretIn(html);
  assert.ok(next && next !== secret);
});

test('a test event shows its result and its delivery', async () => {
  const receiver = subscriber(200);
  const place = await scene('editor', { outbound: receiver.outbound });
  const { here, secret } = await made(place);
  await place.post(`${here}/test`, {});
  const html = await (await place.get(here)).text();
  assert.match(html, /Test event delivered in/);
  const delivery = /\/deliveries\/([\da-f-]{36})/.exec(html)![1]!;
  const page = await (await place.get(`${here}/deliveries/${delivery}`)).text();
  const shown = page.replaceAll('&quot;', '"');
  const [row] = await db<{ body: string }[]>`select body from deliveries where id = ${delivery}`;
  assert.ok(shown.includes(row!.body));
  const signature = createHmac('sha256', secret).update(row!.body).digest('hex');
  assert.ok(shown.includes(`X-Service-Signature: ${signature}`));
  assert.match(shown, /The first attempt succeeded\./);
});

test('a failed test event shows its status', async () => {
  const place = await scene('editor', { outbound: subscriber(503).outbound });
  const { here } = await made(place);
  const answer = await place.post(`${here}/test`, {});
  assert.deepEqual([answer.status, answer.headers.get('Location')], [303, here]);
  const text = 'Test event failed: status 503.';
  assert.deepEqual(noticeOf(answer), { kind: 'failed', text });
});

test('a failed delivery shows the error and can be redelivered', async () => {
  const place = await scene();
  const { here, id } = await made(place);
  const failed = await addDelivery(place.orgId, id, {
    status: 'failed',
    attempts: 2,
    status_code: 503,
  });
  await db`
    insert into delivery_attempts
      (org_id, webhook_id, delivery_id, number, status_code, duration_ms, response_body, at)
    values (${place.orgId}, ${id}, ${failed}, 1, null, 10000, null, '2026-01-01T00:00:00Z'),
           (${place.orgId}, ${id}, ${failed}, 2, 503, 12, 'busy <b>', '2026-01-01T00:01:00Z')`;
  const responseId = crypto.randomUUID();
  const body = JSON.stringify({ comment: `für "responseId":"${id}"`, responseId });
  await db`update events set body = ${body} where org_id = ${place.orgId}`;
  const html = await (await place.get(`${here}/deliveries/${failed}`)).text();
  assert.match(html, />Redeliver</);
  assert.match(html, /after 2 attempts: status 503/);
  assert.match(html, /busy &lt;b&gt;/);
  assert.match(html, /webhook-timestamp: 1767225660\n/);
  const shown = html.replaceAll('&quot;', '"');
  assert.ok(shown.includes(`\n  "responseId": "${responseId}"\n}`), 'the body is not indented');
  assert.ok(shown.includes(`<code>${body}</code>`), 'its bytes are missing');
  assert.match(html, new RegExp(`Raw body, ${Buffer.byteLength(body)} bytes`));
  const [, about] = /<a href="([^"]*)">View response<\/a>/.exec(html) ?? [];
  assert.equal(about, here.replace(/\/webhooks\/.*/, `/responses/${responseId}`));
  await place.post(`${here}/deliveries/${failed}/redeliver`, {});
  assert.equal((await db`select from deliveries where webhook_id = ${id}`).length, 2);
  await db`update webhooks set active = false where id = ${id}`;
  const off = await (await place.get(`${here}/deliveries/${failed}`)).text();
  assert.doesNotMatch(off, />Redeliver</);
});

test('an inactive webhook can be turned on', async () => {
  const place = await scene();
  const { here, id } = await made(place);
  const delivery = await addDelivery(place.orgId, id, { status: 'skipped' });
  assert.doesNotMatch(await (await place.get(here)).text(), /switch-on/);
  await place.post(`${here}/switch-off`, {});
  assert.match(await (await place.get(here)).text(), /switch-on"><button[^>]*class="primary"/);
  const replay = await (await place.get(`${here}/replay`)).text();
  assert.match(replay, /Turn it on to replay/);
  const page = await (await place.get(`${here}/deliveries/${delivery}`)).text();
  assert.match(page, /Request, not sent.*Nothing sent yet/s);
});

const weekAgo = () => new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);

test('a replay confirms more than 100 deliveries', async () => {
  const place = await scene();
  const { here, id } = await made(place);
  for (let n = 0; n < 2; n += 1) await addDelivery(place.orgId, id, { status: 'skipped' });
  await addDelivery(place.orgId, id, { status: 'delivered', attempts: 1 });
  const began = weekAgo();
  const page = await (await place.get(`${here}/replay`)).text();
  const since = /value="(\d{4}-\d\d-\d\d)"/.exec(page)![1]!;
  assert.ok(began <= since && since <= weekAgo(), 'since a week ago');
  await place.post(`${here}/replay`, { since });
  assert.match(await (await place.get(here)).text(), /Replaying 2 events/);

  const again = await place.post(`${here}/replay`, { since });
  assert.match(noticeOf(again)!.text, /No events were skipped or failed since/);

  const failed = { status: 'failed', attempts: 2 };
  const hundred = Array.from({ length: 100 }, () => ({
    org_id: place.orgId,
    webhook_id: id,
    ...failed,
  }));
  await addDeliveries(db, ...hundred);
  const at100 = await place.post(`${here}/replay`, { since });
  assert.equal(at100.headers.get('Location'), here);
  await db`delete from pending_deliveries where webhook_id = ${id}`;
  await addDelivery(place.orgId, id, failed);
  const pending = async () =>
    (await db`select from deliveries where webhook_id = ${id} and status = 'pending'`).length;
  const asked = await place.post(`${here}/replay`, { since });
  const confirmation = asked.headers.get('Location')!;
  assert.match(confirmation, /confirm=true/);
  assert.equal(await pending(), 0);
  assert.match(await (await place.get(confirmation)).text(), /103 events were/);
  await place.post(`${here}/replay`, { since, confirmed: 'true' });
  assert.equal(await pending(), 103);
  for (const none of ['2026-02-30', '0000-01-01']) {
    assert.equal((await place.post(`${here}/replay`, { since: none })).status, 422);
  }
});

test('deliveries can be paged and filtered; page one is live', async () => {
  const place = await scene();
  const { here, id } = await made(place);
  for (let n = 0; n < 3; n += 1) await addDelivery(place.orgId, id, { status: 'skipped' });
  await addDelivery(place.orgId, id, { status: 'failed', attempts: 2 });
  const rows = async (query: string) =>
    [...(await (await place.get(`${here}?${query}`)).text()).matchAll(/id="at-/g)].length;
  assert.deepEqual(
    await Promise.all(
      ['', 'status=skipped', 'status=constructor', 'limit=2', 'limit=3&page=2'].map(rows),
    ),
    [4, 3, 4, 2, 1],
  );
  assert.match(await (await place.get(here)).text(), /hx-trigger="every 3s"/);
  assert.doesNotMatch(await (await place.get(`${here}?live=false`)).text(), /hx-trigger/);
});

test('webhooks of another organization return 404', async () => {
  const id = await makeWebhook(db, await makeOrganization(db));
  const stranger = await scene();
  for (const path of [`/${id}`, `/${id}/edit`, `/${id}/delete`, `/${id}/replay`, '/not-an-id']) {
    assert.equal((await stranger.get(stranger.list + path)).status, 404, path);
  }
  for (const path of ['/test', '/switch-off', '/rotate-secret', '/delete', '/replay']) {
    const form = { since: '2026-01-01' };
    assert.equal((await stranger.post(`${stranger.list}/${id}${path}`, form)).status, 404, path);
  }
  assert.equal((await db`select from webhooks where id = ${id}`).length, 1);
});

async function addDelivery(orgId: string, webhookId: string, over: Partial<DeliveryFields>) {
  const [id] = await addDeliveries(db, { org_id: orgId, webhook_id: webhookId, ...over });
  return id!;
}
