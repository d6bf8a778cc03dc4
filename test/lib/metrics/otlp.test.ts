import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { requestEnded } from '../../../src/lib/http/http.ts';
import { observeFor, openMeter } from '../../../src/lib/metrics/otlp.ts';
import { instruments } from '../../../src/observations/instruments.ts';
import { startCounters } from '../../../src/observations/metrics.ts';
import { answered, attempted } from '../../../src/signals.ts';

test('there is no meter without an SDK', () => {
  assert.equal(openMeter('askback'), null);
});

test('exported names convert back to the Prometheus names', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  after(() => metrics.disable());

  const { meter, stop } = startCounters();
  assert.ok(meter);
  const labels = (name: string) =>
    Object.fromEntries(
      Object.entries(instruments.find((each) => each.name === name)!.labels).map(
        ([label, values]) => [label, values?.[0] ?? 'x'],
      ),
    );
  const readings = Object.fromEntries(
    instruments
      .filter(({ how }) => how === 'observed')
      .map(({ name }) => [name, [{ labels: labels(name), value: 7 }]]),
  );
  observeFor(meter, instruments, async () => readings);
  publishSomething();
  stop();
  await provider.forceFlush();

  const exported = exporter.getMetrics().at(-1)!.scopeMetrics;
  assert.deepEqual(
    exported.map(({ scope }) => scope.name),
    ['askback'],
  );
  const found = new Map(exported[0]!.metrics.map((each) => [each.descriptor.name, each]));

  const attempts = found.get('askback.delivery_attempts')!.dataPoints;
  assert.deepEqual(
    attempts.map(({ attributes, value }) => [attributes, value]),
    [[{ channel: 'webhook', outcome: 'delivered' }, 1]],
  );
  const requests = found.get('http.server.request.duration')!;
  assert.equal(requests.descriptor.unit, 's');
  assert.deepEqual(requests.dataPoints[0]!.attributes, {
    'http.request.method': 'GET',
    'http.route': '/s/:token',
    'http.response.status_code': '200',
  });
  const bounds = (requests.dataPoints[0]!.value as { buckets: { boundaries: number[] } }).buckets;
  const table = instruments.find(({ name }) => name === 'http_server_request_duration_seconds');
  assert.deepEqual(bounds.boundaries, table!.buckets);
  assert.equal(found.get('askback.queue_oldest')!.dataPoints[0]!.value, 7);
  assert.equal(found.get('askback.runner_restarts')!.descriptor.unit, '');

  const spelledAgain = [...found.values()].map(({ descriptor: { name, unit }, ...each }) => {
    const monotonic = 'isMonotonic' in each && each.isMonotonic;
    return (
      name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '') + (monotonic ? '_total' : '')
    );
  });
  const names = instruments.map(({ name }) => name);
  assert.deepEqual(
    spelledAgain.filter((name) => !names.includes(name)),
    [],
  );
  for (const { name, how } of instruments) {
    if (how === 'observed') assert.ok(spelledAgain.includes(name), name);
  }
});

function publishSomething() {
  const traceparent = null;
  requestEnded.publish({
    method: 'GET',
    route: '/s/:token',
    status: 200,
    ms: 3,
    requestId: 'r',
    tenant: null,
    traceparent,
  });
  attempted.publish({
    orgId: 'o',
    webhookId: 'w',
    deliveryId: 'd',
    event: 'response.received',
    attempt: 1,
    outcome: 'delivered',
    statusCode: 200,
    error: null,
    ms: 3,
    sinceMs: 9,
    traceparent,
  });
  answered.publish({
    orgId: 'o',
    surveyId: 's',
    responseId: 'r',
    type: 'nps',
    category: 'promoter',
    held: null,
    events: ['response.received'],
    traceparent,
  });
}
