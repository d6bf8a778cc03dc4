import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startCollector } from '../support/fakes/collector.ts';
import { addDeliveries, type DeliveryFields } from '../support/make/delivery-rows.ts';
import { personalWords, sendOne, tracedScene } from '../support/make/traced-scene.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const collector = await startCollector();
const folder = mkdtempSync(join(tmpdir(), 'askback-traces-'));
writeFileSync(join(folder, 'headers'), 'x-key=se%20cret\n');
const scene = await tracedScene(
  { db, url },
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS_FILE: join(folder, 'headers'),
    OTEL_SERVICE_NAME: 'feedback',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=drill,service.name=overruled',
    OTEL_METRICS_EXPORTER: 'none',
  },
);
test.after(() => rmSync(folder, { recursive: true }));

const { client, webhookId } = scene;
const named = (name: string) => collector.spans.filter((span) => span.name === name);
const attempts = () => named('POST').toSorted((a, b) => a.startMs - b.startMs);
const twoHoursAgo = new Date(Date.now() - 2 * 3600 * 1000);
const earlier = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const earlierTrace = earlier.slice(3, 35);

const token = await sendOne(scene, { email: personalWords.email });
await scene.post(`/s/${token}`, { score: 9 }, {});
await until('the first attempt was exported', () => attempts()[0] && named('POST /s/:token')[0]);
await until('the first attempt is on record', async () => {
  const [row] = await db`select from deliveries where attempts = 1 and status = 'pending'`;
  return row;
});
scene.service.child.kill('SIGKILL');
const second = scene.start();
const address = addressIn(await second.ready());

test('a retry by the next process continues the trace of the request', async () => {
  await until('the retry was exported', () => attempts()[1]);
  const [first, retry] = attempts();
  const request = named('POST /s/:token')[0]!;
  assert.deepEqual([first!.traceId, retry!.traceId], [request.traceId, request.traceId]);
  assert.equal(retry!.parentSpanId, first!.parentSpanId);
  const instance = 'service.instance.id';
  assert.notEqual(retry!.resource[instance], first!.resource[instance]);
});

test('a job over an hour after its cause has its own linked trace', async () => {
  const payload = { _trace: earlier, _caused_at: twoHoursAgo.getTime() };
  await db`select graphile_worker.add_job('responses.clean_up', ${db.json(payload)}::json)`;
  await until('the job was exported', () => named('process responses.clean_up')[0]);
  const [job] = named('process responses.clean_up');
  assert.deepEqual([job!.parentSpanId, job!.links], [null, [earlierTrace]]);
  assert.notEqual(job!.traceId, earlierTrace);
});

test('a job within an hour continues the trace of its cause', async () => {
  const payload = { _trace: earlier, _caused_at: Date.now() - 3000 * 1000 };
  await db`select graphile_worker.add_job('keys.clean_up', ${db.json(payload)}::json)`;
  const mine = () => named('process keys.clean_up').find(({ traceId }) => traceId === earlierTrace);
  await until('the job was exported', mine);
  assert.deepEqual([mine()!.parentSpanId, mine()!.links], [earlier.slice(36, 52), []]);
});

const insertDelivery = async (over: Partial<DeliveryFields>) => {
  const [id] = await addDeliveries(db, { org_id: client.id, webhook_id: webhookId, ...over });
  const of = () => attempts().filter(({ attributes }) => attributes['askback.delivery.id'] === id);
  await until('both attempts were exported', () => of().length === 2);
  return { id: id!, attempts: of() };
};

test('an attempt over an hour after its event has its own trace', async () => {
  const late = await insertDelivery({ traceparent: earlier, created_at: twoHoursAgo });
  for (const { parentSpanId, links } of late.attempts) {
    assert.deepEqual([parentSpanId, links], [null, [earlierTrace]]);
  }
});

test('a delivery without a trace shows the trace of its first attempt', async () => {
  const { id, attempts } = await insertDelivery({ traceparent: null });
  const [row] = await db`select traceparent from deliveries where id = ${id}`;
  const [first, retry] = attempts;
  assert.equal(row!['traceparent'], `00-${first!.traceId}-${first!.spanId}-01`);
  assert.equal(retry!.traceId, first!.traceId);
});

test('a replayed delivery has the trace of the replay, linked to the first', async () => {
  const { id } = await insertDelivery({ traceparent: earlier });
  const before = attempts().length;
  const path = `/api/webhooks/${webhookId}/deliveries/${id}/redeliver`;
  const headers = { ...client.write, 'Content-Type': 'application/json' };
  await fetch(`${address}${path}`, { method: 'POST', headers });
  await until('it was exported', () => attempts().length > before);
  const route = '/api/webhooks/:id/deliveries/:delivery_id/redeliver';
  await until('the request was exported', () => named(`POST ${route}`)[0]);
  const [request] = named(`POST ${route}`);
  const spans = collector.of(request!.traceId);
  const producer = spans.find(({ name }) => name === 'send webhooks.deliver');
  assert.deepEqual(producer!.links, [earlierTrace]);
  assert.equal(attempts().at(-1)!.parentSpanId, producer!.spanId);
});

test("reads OpenTelemetry's settings for protocol, headers and name", async () => {
  assert.equal(await second.stop(), 0);
  const traces = collector.requests.map(({ headers }) => headers);
  assert.ok(traces.length > 0);
  for (const headers of traces) {
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['x-key'], 'se cret');
  }
  const { resource } = collector.spans[0]!;
  assert.equal(resource['service.name'], 'feedback');
  assert.equal(resource['deployment.environment.name'], 'drill');
});
