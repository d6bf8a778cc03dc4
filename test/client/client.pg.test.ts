import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deliveryHeaders } from '../../src/webhooks/deliver.ts';
import { makeClient, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testApp } from '../support/probe/app.ts';
import { testDatabase } from '../support/probe/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'askback-client-'));
after(() => rmSync(folder, { recursive: true }));
execFileSync(process.execPath, ['--import', 'tsx', 'ops/build/client.ts', folder]);
const module = (await import(
  pathToFileURL(join(folder, 'client/package/askback.js')).href
)) as Client;

type Answer = Promise<{ data: { id: string }[] & { id: string; sent: number } }>;
type Call = (input?: object, options?: object) => Answer;
type Client = {
  createClient: (options: object) => {
    [name in 'getNps' | 'listSurveys' | 'getSurvey' | 'sendSurvey' | 'answerShared']: Call;
  } & { each: (name: string, input?: object) => AsyncIterable<{ comment: string }> };
  verifyWebhook: (request: object) => Promise<{ id: string; event: string; payload: object }>;
};

const { db } = await testDatabase();
const app = testApp(db);
const client = await makeClient(db);
const survey = await makeSurvey(db, client.id);
for (let n = 0; n < 7; n += 1) {
  await makeResponse(db, { org_id: client.id, survey_id: survey }, { comment: `No. ${n}` });
}

type Fetch = (url: URL, init: RequestInit & { headers: Headers }) => Promise<Response>;
const throughApp: Fetch = async (url, init) => await app.request(url, init);
const open = (fetch: Fetch, more: object = {}) =>
  module.createClient({
    url: 'https://askback.test/',
    key: client.write['X-API-Key'],
    fetch,
    ...more,
  });

test('the package only has the program, types, license and README', () => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json'], {
      cwd: join(folder, 'client/package'),
      encoding: 'utf8',
    }),
  ) as { files: { path: string }[] }[];
  const modules = ['askback', 'client', 'operations', 'types', 'webhook'];
  assert.deepEqual(
    packed!.files.map(({ path }) => path).sort(),
    [
      'LICENSE',
      'README.md',
      'package.json',
      ...modules.flatMap((name) => [`${name}.d.ts`, `${name}.js`]),
    ].sort(),
  );
});

test('a call returns the response body, and each() every item once', async () => {
  const askback = open(throughApp);
  const { data } = await askback.listSurveys({ limit: 1 });
  assert.equal(data[0]!.id, survey);
  assert.equal((await askback.getSurvey({ id: survey })).data.id, survey);
  const comments: string[] = [];
  for await (const { comment } of askback.each('listResponses', { limit: 3 }))
    comments.push(comment);
  assert.deepEqual(
    comments.sort(),
    Array.from({ length: 7 }, (_, n) => `No. ${n}`),
  );
});

test('bodies and parameters are sent as documented', async () => {
  const tried = await open(throughApp).sendSurvey({
    id: survey,
    dry_run: true,
    body: { contacts: [{ email: 'ann@people.test' }] },
  });
  assert.equal(tried.data.sent, 1);
  assert.equal((await db`select from contacts where org_id = ${client.id}`).length, 0);
});

test('a refusal is thrown with its status, code and sentence', async () => {
  await assert.rejects(open(throughApp).getSurvey({ id: crypto.randomUUID() }), {
    name: 'AskbackError',
    status: 404,
    code: 'not_found',
    message: 'survey not found',
  });
  await assert.rejects(async () => open(throughApp).getSurvey({}), /getSurvey needs id/);
});

/** A client that gets these answers in order, and the requests that it sent. */
function scripted(...answers: (Response | Error)[]) {
  const requests: { method: string; key: string | null }[] = [];
  const fetch: Fetch = async (_, { method = 'GET', headers }) => {
    requests.push({ method, key: headers.get('Idempotency-Key') });
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { fetch, requests };
}

const busy = (status: number, after = '0') =>
  Response.json({ error: 'busy' }, { status, headers: { 'Retry-After': after } });
const done = () => Response.json({ data: { id: 'x' } });

test('calls that are safe to repeat are retried, and a POST keeps its key', async () => {
  const { fetch, requests } = scripted(busy(429), busy(503), done());
  await open(fetch).sendSurvey({ id: survey, body: { contacts: [] } });
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ key }) => key)).size, 1);
  assert.match(requests[0]!.key!, /^[\da-f-]{36}$/);
});

test('an Idempotency-Key of the caller is sent unchanged', async () => {
  const { fetch, requests } = scripted(done());
  await open(fetch).sendSurvey({ id: survey, body: {} }, { idempotencyKey: 'order-7' });
  assert.deepEqual(requests, [{ method: 'POST', key: 'order-7' }]);
});

test('the client does not retry refusals, long waits or unkeyed POSTs', async () => {
  for (const [answer, call, status] of [
    [busy(429, '3600'), 'getNps', 429],
    [busy(404), 'getNps', 404],
    [busy(503), 'answerShared', 503],
  ] as const) {
    const { fetch, requests } = scripted(answer, done());
    await assert.rejects(open(fetch)[call]({ share_id: 'x', body: { score: 1 } }), { status });
    assert.equal(requests.length, 1);
  }
});

test('the lost connection is thrown after the last try', async () => {
  const lost = new TypeError('fetch failed');
  const { fetch, requests } = scripted(lost, lost);
  await assert.rejects(open(fetch, { retries: 1 }).getNps(), lost);
  assert.equal(requests.length, 2);
});

test('an aborted call is not retried', async () => {
  const { fetch, requests } = scripted(new TypeError('fetch failed'), done());
  const signal = AbortSignal.abort(new Error('left'));
  await assert.rejects(open(fetch).getNps({}, { signal }), /left/);
  assert.equal(requests.length, 1);
});

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const body = '{"version":"1","score":9}';
const signed = ([first, second]: readonly string[], at = new Date()) =>
  deliveryHeaders('Acme', {
    id: crypto.randomUUID(),
    message_id: 'msg_1',
    event: 'response.received',
    body,
    at,
    secret: first!,
    previousSecret: second ?? null,
  });

test('verifyWebhook accepts a signed delivery, also during a rotation', async () => {
  const old = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;
  for (const headers of [signed([secret]), new Headers(signed([old, secret]))]) {
    assert.deepEqual(await module.verifyWebhook({ body, headers, secret }), {
      id: 'msg_1',
      event: 'response.received',
      payload: { version: '1', score: 9 },
    });
  }
});

test('verifyWebhook refuses a changed, old, foreign or unsigned delivery', async () => {
  const refused = { name: 'WebhookRefused' };
  const headers = signed([secret]);
  const hourAgo = signed([secret], new Date(Date.now() - 3_600_000));
  for (const request of [
    { body: `${body} `, headers, secret },
    { body, headers: hourAgo, secret },
    { body, headers, secret: `whsec_${Buffer.alloc(32, 5).toString('base64')}` },
    { body, headers: {}, secret },
  ]) {
    await assert.rejects(module.verifyWebhook(request), refused);
  }
});

test('the types know parameters, answers and events', () => {
  const project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  symlinkSync(join(folder, 'client/package'), join(project, 'node_modules/askback-client'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(project, 'use.ts'),
    `import { createClient, verifyWebhook } from 'askback-client';
const askback = createClient({ url: 'https://askback.test', key: 'k' });
const { data } = await askback.getNps();
export const nps: number | null = data.nps;
export const survey = await askback.getSurvey({ id: 'x' });
for await (const { score, comment } of askback.each('listResponses', { category: 'detractor' })) {
  const text: string | null = comment;
  console.log(score + 1, text);
}
const { event, payload } = await verifyWebhook({ body: '', headers: {}, secret: '' });
if (event === 'response.received') console.log(payload.score + 1);
// @ts-expect-error a survey has an id
await askback.getSurvey({});
// @ts-expect-error there is no such category
await askback.listResponses({ category: 'happy' });
// @ts-expect-error the score is not a list
askback.each('getNps');
`,
  );
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023'];
  const library = ['--lib', 'es2023,dom,dom.asynciterable', '--types', ''];
  execFileSync(resolve('node_modules/.bin/tsc'), [...options, ...library, 'use.ts'], {
    cwd: project,
    stdio: 'pipe',
  });
});
