import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createSecrets } from '../../src/lib/crypto/secrets.ts';
import { checkConfirm, confirmWord } from '../../src/mcp/tools.ts';
import { makeClient, makeContact, makeResponse, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const service = startService({ DATABASE_URL: url, ASKBACK_SECRET_KEY: secretKey, PORT: '0' });
const address = addressIn(await service.ready());

const owner = await makeClient(db);
const stranger = await makeClient(db);
const survey = await makeSurvey(db, owner.id, { name: 'Onboarding' });
await makeSurvey(db, stranger.id, { name: 'Of somebody else' });
const of = { org_id: owner.id, survey_id: survey };
const late = await makeResponse(db, of, { score: 2, category: 'detractor', comment: 'Late again' });
await makeResponse(db, of, { score: 9, comment: 'Kind people' });
await db`
  insert into analyses (org_id, response_id, sentiment, themes, churn_risk, summary, provider)
  values (${owner.id}, ${late}, 'negative', '{delivery,price}', 'high', 'Late.', 'built-in')`;
await makeContact(db, of, { email: 'ann@people.test' });

async function connect(headers: Record<string, string>) {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${headers['X-API-Key']}` } };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', address), { requestInit });
  // Their types disagree about undefined.
  await client.connect(transport as never);
  after(() => client.close());
  return client;
}

type Called = {
  isError?: boolean;
  content: { text: string }[];
  structuredContent?: Record<string, unknown>;
};
const call = async (client: Client, name: string, given: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: given })) as unknown as Called;

const [reader, writer, other] = [
  await connect(owner.read),
  await connect(owner.write),
  await connect(stranger.write),
];

test('read keys see the reading tools, write keys also send_survey', async () => {
  const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
  const reading = [
    'list_surveys',
    'get_survey',
    'list_responses',
    'get_question_results',
    'get_nps',
    'get_nps_trend',
    'why',
    'list_themes',
  ];
  assert.deepEqual(await names(reader), reading);
  assert.deepEqual(await names(writer), [...reading, 'send_survey']);
});

test("a tool returns what its route returns, for the key's organization", async () => {
  const asked = await fetch(`${address}/api/v1/surveys`, { headers: owner.read });
  const surveys = await call(reader, 'list_surveys');
  assert.deepEqual(surveys.structuredContent, await asked.json());
  assert.deepEqual(JSON.parse(surveys.content[0]!.text), surveys.structuredContent);
  const found = await call(reader, 'list_responses', { category: 'detractor', limit: 1 });
  const [response] = found.structuredContent!['data'] as { comment: string }[];
  assert.equal(response!.comment, 'Late again');
  const onPlan = await call(reader, 'list_responses', { property: { 'property.plan': 'pro' } });
  assert.deepEqual(onPlan.structuredContent!['data'], []);
  assert.equal((await call(other, 'get_survey', { id: survey })).isError, true);
  const themes = await call(other, 'list_themes');
  assert.deepEqual(themes.structuredContent, { data: [] });
});

test('list_themes counts mentions and detractors within dates', async () => {
  const { structuredContent } = await call(reader, 'list_themes', { survey_id: survey });
  assert.deepEqual(structuredContent, {
    data: [
      { theme: 'delivery', mentions: 1, detractors: 1 },
      { theme: 'price', mentions: 1, detractors: 1 },
    ],
  });
  const before = await call(reader, 'list_themes', { date_to: '2020-01-01' });
  assert.deepEqual(before.structuredContent, { data: [] });
});

test('invalid arguments are a result that explains the error', async () => {
  const sentenceOf = async (name: string, given: Record<string, unknown>) => {
    const { isError, content } = await call(reader, name, given);
    assert.equal(isError, true);
    return content[0]!.text;
  };
  assert.equal(await sentenceOf('get_survey', {}), 'id is required');
  assert.match(await sentenceOf('list_responses', { category: 'happy' }), /^category: must be /);
  assert.match(await sentenceOf('list_themes', { limit: 1000 }), /^limit: /);
  assert.match(await sentenceOf('list_themes', { date_from: 'yesterday' }), /^date_from: /);
  await assert.rejects(call(reader, 'drop_tables'), /there is no tool named "drop_tables"/);
});

const contacts = [{ email: 'ben@people.test', name: 'Ben' }];
const mailed = async () =>
  (
    await db<{ email: string }[]>`
    select c.email from mails m join contacts c on c.id = m.contact_id where m.org_id = ${owner.id}`
  ).map(({ email }) => email);

test('a send without confirm is a dry run, and confirm sends once', async () => {
  const tried = await call(writer, 'send_survey', { survey_id: survey, contacts });
  const { confirm, data } = tried.structuredContent as { confirm: string; data: { sent: number } };
  assert.equal(data.sent, 1);
  assert.deepEqual(await mailed(), []);

  const changed = [...contacts, { email: 'cem@people.test' }];
  for (const wrong of [
    { survey_id: survey, contacts: changed, confirm },
    { survey_id: crypto.randomUUID(), contacts, confirm },
    { survey_id: survey, contacts, confirm: `${confirm.slice(0, -2)}AA` },
    { survey_id: survey, contacts, confirm: '' },
  ]) {
    const refused = await call(writer, 'send_survey', wrong);
    assert.match(refused.content[0]!.text, /^confirm does not match a dry run/);
  }
  assert.deepEqual(await mailed(), []);

  const reordered = [{ name: 'Ben', email: 'ben@people.test' }];
  const sent = await call(writer, 'send_survey', {
    survey_id: survey,
    contacts: reordered,
    confirm,
  });
  assert.equal((sent.structuredContent!['data'] as { sent: number }).sent, 1);
  const again = await call(writer, 'send_survey', { survey_id: survey, contacts, confirm });
  assert.equal((again.structuredContent!['data'] as { duplicates: number }).duplicates, 1);
  assert.deepEqual(await mailed(), ['ben@people.test']);
});

test('a read key cannot send', async () => {
  const refused = await call(reader, 'send_survey', { survey_id: survey, contacts });
  assert.equal(refused.content[0]!.text, 'this API key has no write permission');
});

const rpc = (body: string, headers: Record<string, string> = owner.read) =>
  fetch(`${address}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
const ping = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' });

test('messages without a valid key are refused', async () => {
  for (const message of [
    ping,
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_nps"}}',
  ]) {
    const refused = await rpc(message, {});
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get('WWW-Authenticate') ?? '', /^Bearer /);
  }
});

test('calls of tools named like Object.prototype members are refused', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'valueOf', '__defineGetter__']) {
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}"}}`;
    assert.equal((await rpc(message, {})).status, 401, name);
    const answer = await rpc(message);
    const { error } = (await answer.json()) as { error: { code: number } };
    assert.deepEqual([answer.status, error.code], [200, -32602], name);
  }
});

test('a long message needs a valid key first, and counts once', async () => {
  const long = `{${' '.repeat(70_000)}`;
  const chunks = () => new Blob([long]).stream();
  const chunked = { method: 'POST', duplex: 'half' } as const;
  assert.equal((await rpc(long, {})).status, 401);
  assert.equal((await fetch(`${address}/mcp`, { ...chunked, body: chunks() })).status, 401);
  const known = await fetch(`${address}/mcp`, {
    ...chunked,
    body: chunks(),
    headers: stranger.read,
  });
  assert.equal(known.status, 400);
  const pinged = await rpc(`${ping}${' '.repeat(70_000)}`, stranger.read);
  assert.equal(pinged.status, 200);
  assert.match(pinged.headers.get('RateLimit') ?? '', /r=9[89]\b/);
});

test('reads at most 64 KiB before the key is checked, and 1 MiB after', async () => {
  const statusOf = async (bytes: number, headers: Record<string, string>) =>
    (await rpc('{'.padEnd(bytes), headers)).status;
  assert.deepEqual([await statusOf(65_536, {}), await statusOf(65_537, {})], [400, 401]);
  const padded = async (bytes: number) => (await rpc(ping.padEnd(bytes))).status;
  assert.deepEqual([await padded(1_048_576), await padded(1_048_577)], [200, 413]);
});

test('a client gets its protocol version, or the newest if unknown', async () => {
  const versionFor = async (protocolVersion: string) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion } };
    const { result } = (await (await rpc(JSON.stringify(message))).json()) as {
      result: { protocolVersion: string };
    };
    return result.protocolVersion;
  };
  const own = ['2025-11-25', '2025-06-18', '2025-03-26'];
  for (const version of own) assert.equal(await versionFor(version), version);
  assert.equal(await versionFor('1999-01-01'), own[0]);
  for (const version of own)
    assert.equal((await rpc(ping, { ...owner.read, 'MCP-Protocol-Version': version })).status, 200);
});

test('messages that are not JSON-RPC get a JSON-RPC error', async () => {
  const codeOf = async (body: string, headers?: Record<string, string>) => {
    const answer = await rpc(body, { ...owner.read, ...headers });
    const { error } = (await answer.json()) as { error: { code: number } };
    return [answer.status, error.code];
  };
  assert.deepEqual(await codeOf('{'), [400, -32700]);
  assert.deepEqual(await codeOf('[]'), [400, -32600]);
  assert.deepEqual(await codeOf(ping, { 'MCP-Protocol-Version': '1999-01-01' }), [400, -32600]);
  assert.deepEqual(
    await codeOf('{"jsonrpc":"2.0","id":1,"method":"resources/list"}'),
    [200, -32601],
  );
  assert.deepEqual(await codeOf('{"jsonrpc":"2.0","id":1,"method":"tools/call"}'), [200, -32602]);
  const notified = await rpc('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  assert.deepEqual([notified.status, await notified.text()], [202, '']);
  assert.equal((await fetch(`${address}/mcp`)).status, 405);
});

test('pages of other sites cannot use a key', async () => {
  assert.equal((await rpc(ping, { ...owner.read, Origin: 'https://evil.test' })).status, 403);
  assert.equal((await rpc(ping, { ...owner.read, Origin: new URL(address).origin })).status, 200);
});

test('/llms.txt lists documents that exist', async () => {
  const answer = await fetch(`${address}/llms.txt`);
  assert.match(answer.headers.get('Content-Type') ?? '', /^text\/plain/);
  const links = [...(await answer.text()).matchAll(/\]\((\S+)\)/g)].map(([, link]) => link!);
  assert.deepEqual(links, [`${address}/docs`, `${address}/openapi.json`, `${address}/mcp`]);
  for (const link of links.slice(0, 2)) assert.equal((await fetch(link)).status, 200);
});

const secrets = createSecrets([Buffer.alloc(32, 1)]);
const orgId = randomUUID();
const input = { survey_id: randomUUID(), contacts: [{ email: 'ben@people.test' }] };
const tenMinutesMs = 600_000;

test('confirm compares contacts with a property named toString', () => {
  const properties = { toString: 1, plan: 'gold' };
  const [email, other] = ['ben@people.test', { plan: 'gold', toString: 1 }];
  const confirm = confirmWord(secrets, orgId, { ...input, contacts: [{ email, properties }] });
  checkConfirm(secrets, orgId, { ...input, contacts: [{ properties: other, email }], confirm });
});

for (const [ms, isTooOld] of [
  [0, false],
  [tenMinutesMs, false],
  [tenMinutesMs + 1, true],
] as const) {
  test(`confirm is ${isTooOld ? 'expired' : 'valid'} after ${ms} ms`, (t) => {
    const began = Date.now();
    const clock = t.mock.method(Date, 'now', () => began);
    const confirm = confirmWord(secrets, orgId, input);
    clock.mock.mockImplementation(() => began + ms);
    const check = () => checkConfirm(secrets, orgId, { ...input, confirm });
    const tooOld = { code: 'confirm_too_old', message: /^confirm has expired/ };
    if (isTooOld) assert.throws(check, tooOld);
    else check();
    clock.mock.restore();
  });
}
