import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { makeClient } from '../support/make/rows.ts';
import { bareApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';
import { memberBrowser } from '../support/probe/member.ts';
import { type ActScene, later, routeActs, rowsOf } from './route-acts.ts';

const { db } = await testDatabase();
const secrets = createSecrets([Buffer.alloc(32, 1)]);
const app = bareApp(db, { secrets });

type ActEvent = Record<'actor_kind' | 'request_id' | 'target' | 'target_id', string | null>;

const changing = new Set(
  app.routes
    .filter(({ method }) => !['GET', 'HEAD', 'ALL', 'OPTIONS'].includes(method))
    .map(({ method, path }) => `${method} ${path}`),
);

test('routeActs lists every route that changes data', () => {
  const missing = [...changing].filter((route) => !(route in routeActs));
  assert.deepEqual(missing, [], 'add it to test/audit/route-acts.ts');
  const gone = Object.keys(routeActs).filter((route) => !changing.has(route));
  assert.deepEqual(gone, [], 'there is no such route any more');
});

for (const [route, entry] of Object.entries(routeActs)) {
  if (!('act' in entry)) continue;
  test(`${route} records ${entry.act} for its caller`, async () => {
    const scene = await makeScene();
    const answer = await entry.call(scene);
    assert.ok(answer.status < 400, `${answer.status}: ${await answer.clone().text()}`);
    const events = await db<ActEvent[]>`
      select actor_kind, request_id, target, target_id from audit_events
      where org_id = ${scene.orgId} and act = ${entry.act} and actor_kind in ('key', 'member')`;
    assert.equal(events.length, 1);
    const isScreen = route.includes(' /o/');
    assert.equal(events[0]!.actor_kind, isScreen ? 'member' : 'key');
    const { request_id, target, target_id } = events[0]!;
    assert.equal(request_id, answer.headers.get('X-Request-Id'));
    assert.equal(target_id !== null, target !== null);
  });
}

test("no event contains an email, a secret or a respondent's text", async () => {
  const rows = await db<
    { text: string }[]
  >`select row_to_json(e)::text as text from audit_events e`;
  assert.ok(rows.length > 30);
  for (const { text } of rows) {
    assert.doesNotMatch(text, /@|whsec_|ask_live_|token=|ring /);
  }
});

async function makeScene(): Promise<ActScene> {
  const { id: orgId, write } = await makeClient(db);
  const { home, post } = await memberBrowser(db, { app, org: orgId });
  const api: ActScene['api'] = async (method, path, body) =>
    await app.request(`/api${path}`, {
      method,
      headers: write,
      body: body === undefined ? null : JSON.stringify(body),
    });
  const rows = rowsOf(db, orgId);
  async function campaign() {
    const survey = await rows.survey();
    await rows.contact(survey);
    const answer = await api('POST', `/v1/surveys/${survey}/campaigns`, later);
    return ((await answer.json()) as { data: { id: string } }).data.id;
  }
  async function webhook() {
    const id = randomUUID();
    return await rows.webhook(secrets.seal({ owner: orgId, id }, `whsec_${'a'.repeat(43)}=`), id);
  }
  return { db, orgId, api, post, home, settings: `${home}/settings`, campaign, ...rows, webhook };
}
