import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Span, startCollector } from '../support/fakes/collector.ts';
import { personalWords, sendOne, tracedScene } from '../support/make/traced-scene.ts';
import { testDatabase } from '../support/probe/database.ts';
import { spanTree } from '../support/probe/span-tree.ts';
import { until } from '../support/probe/until.ts';
import { askback, secretKey } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const collector = await startCollector();
const scene = await tracedScene({ db, url }, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
const { post, hook, survey, webhookId } = scene;

const callers = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const callersTrace = callers.slice(3, 35);
const token = await sendOne(scene, {
  email: personalWords.email,
  headers: { traceparent: callers },
});
await post(`/s/${token}`, { score: 9, comment: personalWords.comment }, { traceparent: callers });
await fetch(`${scene.address}/u/${token}`);
const delivered = () => db`select traceparent from deliveries where status = 'delivered'`;
await until('the retry is delivered', async () => (await delivered())[0]);
const [delivery] = await delivered();
const answersTrace: string = delivery!['traceparent'].slice(3, 35);
await fetch(`${scene.address}/nowhere/${token}`);
await post(
  '/api/v1/contacts',
  { email: personalWords.email },
  { 'X-API-Key': 'ask_live_unknown', traceparent: callers },
);
await scene.service.stop();

const named = (name: string) => collector.spans.filter((span) => span.name === name);
const only = (spans: readonly Span[]): Span => {
  assert.equal(spans.length, 1, spans.map(({ name }) => name).join(', '));
  return spans[0]!;
};
const shape = (span: Span) => `${span.name} ${span.kind}`;

test('a send continues the trace of its caller: request, enqueue, job, mail', (t) => {
  t.diagnostic(`\n${spanTree(collector.of(callersTrace))}`);
  assert.equal(
    spanTree(collector.of(callersTrace), shape),
    [
      'POST /api/v1/surveys/:id/send SERVER',
      '  send sends.mail PRODUCER',
      '    process sends.mail CONSUMER',
      '      send mail CLIENT',
    ].join('\n'),
  );
  const request = only(named('POST /api/v1/surveys/:id/send'));
  assert.equal(request.parentSpanId, callers.slice(36, 52));
});

test("an answer's trace has both attempts as siblings", (t) => {
  t.diagnostic(`\n${spanTree(collector.of(answersTrace))}`);
  const lines = spanTree(collector.of(answersTrace), shape).split('\n');
  assert.deepEqual(lines.slice(0, 2), [
    'POST /s/:token SERVER',
    '  send webhooks.deliver PRODUCER',
  ]);
  const attempts = lines.slice(2);
  assert.equal(attempts.filter((line) => line === '    POST CLIENT').length, 2);
  assert.deepEqual(
    new Set(attempts),
    new Set(['    POST CLIENT', '    process webhooks.deliver CONSUMER']),
  );
});

test("pages behind a mail's links have their own traces, linked to the send", () => {
  for (const name of ['POST /s/:token', 'GET /u/:token']) {
    const page = only(named(name));
    assert.equal(page.parentSpanId, null);
    assert.deepEqual(page.links, [callersTrace]);
    assert.notEqual(page.traceId, callersTrace);
  }
});

test('a caller without a working key cannot choose the trace', () => {
  const refused = only(named('POST /api/v1/contacts'));
  assert.equal(refused.attributes['http.response.status_code'], 401);
  assert.equal(refused.parentSpanId, null);
  assert.notEqual(refused.traceId, callersTrace);
});

test('the span of a request follows the HTTP conventions, with its route', () => {
  const { attributes, ms, failed } = only(named('POST /s/:token'));
  assert.deepEqual(attributes, {
    'http.request.method': 'POST',
    'http.route': '/s/:token',
    'url.path': '/s/:token',
    'url.scheme': 'http',
    'http.response.status_code': 201,
  });
  assert.equal(failed, false);
  assert.ok(ms > 0 && !Number.isInteger(ms), `${ms}`);
  const send = only(named('POST /api/v1/surveys/:id/send'));
  assert.equal(send.attributes['url.path'], `/api/v1/surveys/${survey}/send`);
  assert.equal(send.attributes['askback.organization.id'], scene.client.id);
  const nowhere = only(named('GET'));
  assert.deepEqual(
    [nowhere.attributes['url.path'], nowhere.attributes['http.route']],
    ['/*', undefined],
  );
});

test("the span of an attempt has the subscriber's host and the outcome", () => {
  const [first, second] = named('POST').toSorted((a, b) => a.startMs - b.startMs);
  const { port, origin } = new URL(hook.url);
  const { 'askback.delivery.id': _, ...attributes } = first!.attributes;
  assert.deepEqual(attributes, {
    'http.request.method': 'POST',
    'http.response.status_code': 503,
    'url.full': `${origin}/REDACTED`,
    'server.address': '127.0.0.1',
    'server.port': Number(port),
    'askback.webhook.id': webhookId,
    'askback.delivery.attempt': 1,
    'askback.event.type': 'response.received',
    'error.type': '503',
  });
  assert.equal(first!.failed, true);
  assert.equal(second!.attributes['http.response.status_code'], 200);
  assert.equal(second!.attributes['http.request.resend_count'], 1);
  assert.equal(second!.failed, false);
});

test('the span of a mail has its outcome', () => {
  const { attributes } = only(named('send mail'));
  assert.equal(attributes['askback.send.outcome'], 'accepted');
});

test('subscribers get the span of the attempt to continue it', () => {
  const spans = named('POST').map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  assert.deepEqual(hook.posts.map(({ traceparent }) => traceparent).sort(), spans.sort());
});

test('the exported resource names the service, never its command line', () => {
  const { resource } = collector.spans[0]!;
  assert.equal(resource['service.name'], 'askback');
  assert.match(String(resource['service.version']), /^\d+\.\d+/);
  assert.equal(JSON.stringify(resource).includes('process.command'), false);
});

test('no span contains a name, address, comment or secret', () => {
  const text = JSON.stringify(collector.spans);
  const secrets = [
    ...Object.values(personalWords),
    'quidditch',
    token,
    scene.client.write['X-API-Key']!,
  ];
  for (const secret of secrets) assert.ok(!text.includes(secret), secret);
});

test('deliveries show their trace id, with a link', async () => {
  const again = scene.start();
  const address = /http:\S+/.exec(await again.ready())![0];
  const answer = await fetch(`${address}/api/webhooks/${webhookId}/deliveries`, {
    headers: scene.client.read,
  });
  const { deliveries } = (await answer.json()) as { deliveries: Record<string, unknown>[] };
  assert.equal(deliveries[0]!['trace_id'], answersTrace);
  assert.equal(deliveries[0]!['trace_url'], `https://traces.test/${answersTrace}?tab=all`);
  assert.equal(await again.stop(), 0);
});

test('contact why shows the trace of a mail', async () => {
  const words = ['contact', 'why', '--org', scene.client.id, '--email', personalWords.email];
  const environment = {
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    ASKBACK_TRACE_URL: 'https://traces.test/{trace_id}',
  };
  const { stdout } = await askback(words, environment);
  assert.match(stdout, new RegExp(`sent .*https://traces.test/${callersTrace}`));
  const { events } = JSON.parse((await askback([...words, '--json'], environment)).stdout);
  const traceOf = (what: string) =>
    events.find((event: { what: string }) => event.what === what).trace_id;
  assert.deepEqual([traceOf('sent'), traceOf('answered')], [callersTrace, answersTrace]);
});
