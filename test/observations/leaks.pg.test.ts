import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { scriptedSmtp } from '../support/fakes/smtp-server.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { personalWords, subscriberThatRefusesOnce } from '../support/make/traced-scene.ts';
import { testDatabase } from '../support/probe/database.ts';
import { scrape } from '../support/probe/scrape.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

/** Runs every feature once and collects all logs, spans and metrics. */
const { db, url } = await testDatabase();
const refused = 'ronald.mudblood@burrow.test';

const exported: Record<string, string> = { traces: '' };
const collector = createServer(async (request, response) => {
  const kind = request.url!.slice('/v1/'.length);
  exported[kind] += await text(request);
  response.setHeader('Content-Type', 'application/json').end('{}');
}).listen(0, '127.0.0.1');
await once(collector, 'listening');
after(() => collector.close());

const mails = await scriptedSmtp({
  RCPT: (line) => (line.includes(refused) ? `554 5.7.1 ${line} is not liked here` : '250 ok'),
});
const hook = await subscriberThatRefusesOnce();
const service = startService({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  LOG_LEVEL: 'trace',
  ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
  ASKBACK_WEBHOOK_HTTP: 'allow',
  ASKBACK_SMTP_URL: `${mails.url}?tls=none`,
  ASKBACK_METRICS_TOKEN: 'alohomora99',
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collectorsecret55',
});
const address = addressIn(await service.ready());
const client = await makeClient(db, { name: 'Quaffle Works' });
const survey = await makeSurvey(db, client.id, {
  question_text: 'How was the Nimbus?',
  share_id: 'sharelink-of-hogwarts',
});
const post = (path: string, body: unknown, headers: Record<string, string> = client.write) =>
  fetch(`${address}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const answer = await post('/api/webhooks', { url: hook.url, events: ['response.received'] });
const made = (await answer.json()) as { secret: string };
const contacts = [
  { email: personalWords.email, name: personalWords.name },
  { email: refused, name: personalWords.name },
];
const sent = await post(`/api/v1/surveys/${survey}/send`, { contacts });
type Sent = { data: { contacts: { token: string }[]; sent: number; failed: number } };
const { data } = (await sent.json()) as Sent;
assert.deepEqual([data.sent, data.failed], [1, 1]);
const tokens = data.contacts.map(({ token }) => token);

await fetch(`${address}/s/${tokens[0]}?score=2&from=${personalWords.email}`);
await post(`/s/${tokens[0]}`, { score: 2, comment: personalWords.comment }, {});
await post('/f/sharelink-of-hogwarts', { score: 9, comment: personalWords.comment }, {});
await post(`/s/${'stolen'.repeat(6)}`, { score: 'much' }, {});
await post('/api/v1/contacts', `{"email": "${personalWords.email}"`, client.write);
await post(`/api/v1/contacts/${personalWords.email}`, { name: personalWords.name });
await fetch(`${address}/api/v1/responses?search=${personalWords.name}`, { headers: client.read });
await fetch(`${address}/${personalWords.email}`, {
  headers: { 'X-API-Key': 'ask_live_pettigrew' },
});
await fetch(`${address}/u/${tokens[1]}`, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
await until('both answers are delivered', async () => {
  const { length } = await db`select from deliveries where status = 'delivered'`;
  return length === 2;
});
const metrics = (await scrape(address, { Authorization: 'Bearer alohomora99' })).text;
await service.stop();

const said = { lines: service.stderr.lines.join('\n'), ...exported, metrics_page: metrics };

test('logs, spans and metrics have recorded the run', () => {
  assert.match(said.lines, /"outcome":"failed".*"msg":"mail"/);
  for (const name of ['POST /s/:token', 'send mail', 'POST /u/:token', 'process sends.mail']) {
    assert.ok(exported['traces']!.includes(`"${name}"`), name);
  }
  assert.match(said.metrics_page, /^askback_answers_total\{.*\} 1$/m);
});

const secrets: Record<string, string> = {
  address: personalWords.email,
  'part of an address': 'hermine.quaffle',
  'refused address': refused,
  domain: 'burrow.test',
  name: personalWords.name.split(' ')[0]!,
  organization: 'Quaffle',
  question: 'Nimbus',
  comment: 'broomstick',
  'mail server’s words': 'not liked',
  'subscriber’s words': 'thank you',
  'link of a contact': tokens[0]!,
  'link of another': tokens[1]!,
  'shareable link': 'sharelink-of-hogwarts',
  'token that does not exist': 'stolen',
  'webhook’s secret': made.secret,
  'webhook’s URL': personalWords.hookSecret,
  'read key': client.read['X-API-Key'],
  'write key': client.write['X-API-Key'],
  'key that does not exist': 'pettigrew',
  'secret key': secretKey,
  'token of the metrics': 'alohomora99',
  'token for the collector': 'collectorsecret55',
};
for (const [what, secret] of Object.entries(secrets)) {
  for (const [where, words] of Object.entries(said)) {
    test(`the ${where} contain no ${what}`, () => {
      assert.ok(secret.length > 5);
      const at = words.toLowerCase().indexOf(secret.toLowerCase());
      assert.equal(at === -1 ? '' : words.slice(at - 200, at + 100), '');
    });
  }
}
