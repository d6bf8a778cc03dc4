import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { mergeQuestions } from '../../src/questions/definition.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { decoded, dumpTables } from '../support/probe/dump.ts';
import { assertTalliesHold } from '../support/probe/tallies.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, askback, secretKey, startService } from '../support/processes/program.ts';

/** Plants one person everywhere, erases them, and searches everything that is stored or was logged. */
const email = 'wilhelmina.quartz@planted.test';
const name = 'Wilhelmina Quartz';
const comment = 'The zephyrine gearbox jammed thrice yesterday, ask Wilhelmina';
const words = ['wilhelmina', 'quartz', 'planted.test', 'zephyrine', 'gearbox', 'jammed thrice'];

const { db, url } = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'askback-erased-'));
after(() => rmSync(folder, { recursive: true }));
const erasuresFile = join(folder, 'erasures.jsonl');

let exported = '';
const collector = createServer(async (request, response) => {
  exported += await text(request);
  response.setHeader('Content-Type', 'application/json').end('{}');
}).listen(0, '127.0.0.1');
/** Refuses the first delivery of each event and echoes its body. */
const seen = new Set<unknown>();
const hook = createServer(async (request, response) => {
  const id = request.headers['webhook-id'];
  response.statusCode = seen.has(id) ? 200 : 503;
  seen.add(id);
  response.end(`got ${await text(request)}`);
}).listen(0, '127.0.0.1');
await Promise.all([collector, hook].map((server) => once(server, 'listening')));
after(() => {
  collector.close();
  hook.close();
});
const portOf = (server: typeof hook) => (server.address() as AddressInfo).port;

const environment = {
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  LOG_LEVEL: 'trace',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_ERASURES_FILE: erasuresFile,
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}`,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
};
const service = startService(environment);
const address = addressIn(await service.ready());
const client = await makeClient(db, { ai_enabled: true, name: 'Larkspur' });
const question = mergeQuestions([], [{ kind: 'text', text: 'What else?' }], new Set())[0]!;
const survey = await makeSurvey(db, client.id, {
  share_id: 'sharedbyall',
  questions: db.json([question] as never),
});
const second = await makeSurvey(db, client.id, { name: 'Second' });
const third = await makeSurvey(db, client.id, { name: 'Third' });

let requests = 0;
async function call(method: string, path: string, body?: unknown) {
  const headers = {
    'Content-Type': 'application/json',
    'Idempotency-Key': `request-${++requests}`,
  };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${address}${path}`, {
    method,
    headers: { ...client.write, ...headers, Accept: 'application/json' },
    ...init,
  });
  assert.ok(
    answer.status < 300,
    `${method} ${path}: ${answer.status} ${await answer.clone().text()}`,
  );
  const said = await answer.text();
  return said === '' ? {} : (JSON.parse(said) as { data: never });
}

type Sent = { contacts: { token: string }[]; sent: number };
type Receipt = { id: string; counts: Record<string, number> };

async function plant() {
  await call('POST', '/api/webhooks', {
    url: `http://127.0.0.1:${portOf(hook)}/hook`,
    events: ['detractor.detected', 'response.received', 'response.completed'],
  });
  const contacts = [{ email, name, properties: { boss: 'Quartz senior' } }];
  const { data } = (await call('POST', `/api/v1/surveys/${survey}/send`, { contacts })) as {
    data: Sent;
  };
  assert.equal(data.sent, 1);
  const [{ token } = { token: '' }] = data.contacts;
  await fetch(`${address}/s/${token}?score=1`);
  await call('POST', `/s/${token}`, { score: 1, comment });
  const sent = new URLSearchParams({ [question.id]: `${comment}, that is ${name}` });
  assert.equal(
    (await fetch(`${address}/s/${token}/answers`, { method: 'POST', body: sent })).status,
    200,
  );
  const [answer] = await db<{ id: string }[]>`select id from responses where comment = ${comment}`;
  const note = { text: `${name} called about the zephyrine` };
  await call('POST', `/api/v1/responses/${answer!.id}/notes`, note);
  await call('POST', `/api/v1/responses/${answer!.id}/replies`, { text: `Sorry, ${name}` });
  await call('POST', '/f/sharedbyall', { score: 9, comment: `ask ${email}` });
  const shared = (await call('POST', '/f/sharedbyall', { score: 8, properties: { email } })) as {
    data: { id: string };
  };
  await call('POST', '/e/sharedbyall/answers', {
    response_id: shared.data.id,
    answers: [{ question_id: question.id, value: `ask ${email}` }],
  });
  await call('POST', '/api/v1/contacts', { survey_id: second, email, name });
  const referred = { email: 'bob@people.test', properties: { referred_by: `<${email}>` } };
  await call('POST', '/api/v1/contacts', { survey_id: third, ...referred });
  await call('POST', `/api/v1/surveys/${second}/campaigns`, {});
  await until('the campaign has mailed', async () => {
    return (await db`select from mails where status = 'sent'`).length === 2;
  });
  await fetch(`${address}/u/${token}`, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
  await call('POST', `/api/v1/surveys/${third}/send`, { contacts });
  await plantRows();
  await until('all is delivered and analyzed', async () => {
    const open = await db`select from deliveries where status <> 'delivered'`;
    const analyzed = await db`select from analyses`;
    return open.length === 0 && analyzed.length > 0;
  });
  await plantExcerpts(answer!.id);
}

/** On a slow machine the excerpt may be missing, because redaction timed out. */
async function plantExcerpts(answer: string) {
  const body = JSON.stringify({
    version: '1',
    responseId: answer,
    comment: 'The zephyrine gearbox',
  });
  await db`update events set body = ${body} where type = 'detractor.detected'`;
  const delivered = db`
    select d.id from deliveries d join events e on e.id = d.event_id where e.type = 'detractor.detected'`;
  await db`update ended_deliveries set response_body = ${`got ${body}`} where id in (${delivered})`;
  await db`update delivery_attempts set response_body = ${`got ${body}`} where delivery_id in (${delivered})`;
}

/** Rows that take an app form or a month to create. */
async function plantRows() {
  await db`
    insert into lifted_suppressions (id, org_id, email, kind, by_hand, created_at, lifted_by, consent)
    values (gen_random_uuid(), ${client.id}, ${email}, 'unsubscribed', false, now(), 'Ann', ${`${name} rang`}),
           (gen_random_uuid(), ${client.id}, 'bob@people.test', 'unsubscribed', false, now(), 'Ann', ${`wrote by ${email}`})`;
  const [upload] = await db<{ id: string }[]>`
    insert into contact_uploads (org_id, survey_id, name, bytes, delimiter, first_line, has_header, rows)
    values (${client.id}, ${second}, 'list.csv', 50, ',', 1, true, 1)
    returning id`;
  await db`
    insert into contact_upload_chunks (org_id, upload_id, place, chunk)
    values (${client.id}, ${upload!.id}, 0, 'email,name wilhelmina.qua'),
           (${client.id}, ${upload!.id}, 1, ${`rtz@planted.test,${name}`})`;
  await db`
    insert into summaries (org_id, period_start, period_end, responses, text)
    values (${client.id}, now() - interval '1 day', now() + interval '1 day', 1,
            ${`Fine.\n\nIn their words:\n- “The zephyrine gearbox jammed thrice yesterday, ask [name]” (detractor)`})`;
}

const wordsIn = (said: string) => words.filter((word) => said.toLowerCase().includes(word));
const whereFound = (tables: Map<string, string>) =>
  [...tables].filter(([, rows]) => wordsIn(rows).length > 0).map(([table]) => table);
const key = Buffer.from(secretKey, 'base64');

await plant();
const planted = whereFound(await dumpTables(db, key));
const { data: receipt } = (await call('DELETE', `/api/v1/people/${email}`)) as { data: Receipt };
const left = await dumpTables(db, key);
await service.stop();

test('every table contained the person', () => {
  assert.deepEqual(planted.sort(), [
    'analyses',
    'blocked_mails',
    'contact_upload_chunks',
    'contacts',
    'delivery_attempts',
    'ended_deliveries',
    'events',
    'idempotency_keys',
    'lifted_suppressions',
    'mailbox_messages',
    'mails',
    'people',
    'replies',
    'response_answers',
    'response_notes',
    'responses',
    'summaries',
    'suppressions',
  ]);
});

for (const [table, rows] of left) {
  test(`table ${table} does not mention the person`, () => {
    assert.deepEqual(wordsIn(rows), []);
  });
}

test('totals are right after the erasure', () => assertTalliesHold(db));

test('receipt counts every kind', () => {
  const none = Object.entries(receipt.counts).filter(([, count]) => count === 0);
  assert.deepEqual(none, []);
});

test('file of erasures has the receipt without the person', () => {
  const file = readFileSync(erasuresFile, 'utf8');
  const [line, ...others] = file.trimEnd().split('\n');
  assert.deepEqual(others, []);
  assert.equal((JSON.parse(line!) as Receipt).id, receipt.id);
  assert.deepEqual(wordsIn(file), []);
});

test('logs and spans do not mention the person', () => {
  const lines = service.stderr.lines.join('\n');
  assert.ok(exported.includes('DELETE /api/v1/people/:email'));
  assert.ok(lines.includes('/api/v1/people/:email'));
  assert.deepEqual(wordsIn(lines), []);
  assert.deepEqual(wordsIn(exported), []);
});

test('later backup does not mention the person', async () => {
  const file = join(folder, 'backup');
  const { code, stderr } = await askback(['backup', file], environment);
  assert.equal(code, 0, stderr);
  const said = zstdDecompressSync(readFileSync(file)).toString('utf8');
  assert.ok(said.includes('Larkspur'));
  assert.deepEqual(wordsIn(decoded(said)), []);
});
