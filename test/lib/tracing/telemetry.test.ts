import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { diag, SpanKind } from '@opentelemetry/api';
import { inSpan } from '../../../src/lib/tracing/spans.ts';
import { startTelemetry } from '../../../src/lib/tracing/telemetry.ts';
import { keptLog } from '../../support/probe/log.ts';

test('logs export errors in the exporter’s words every five minutes', async (t) => {
  const collector = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('no protobuf'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = `http://127.0.0.1:${port}/v1/traces`;
  const { lines, log } = keptLog();

  const telemetry = await startTelemetry({
    settings: { traces: true, fromFiles: {} },
    environment: process.env,
    program: { name: 'askback', version: '1' },
    log,
  });
  const work = { name: 'work', kind: SpanKind.INTERNAL, attributes: {} };
  await inSpan(
    { traceparent: null, agoMs: 0 },
    () => work,
    async () => {},
  );
  await telemetry.stop();
  collector.close();

  const words = 'telemetry export has a problem';
  const [[level, said, { why }], ...others] = lines.splice(0) as [(typeof lines)[number]];
  assert.deepEqual([level, said, others], ['warn', words, []]);
  assert.match(String(why), /Export succeeded but could not deserialize response/);

  const fiveMinutes = 300_000;
  let now = Math.ceil(performance.now()) + fiveMinutes; // sums of whole numbers are exact
  t.mock.method(performance, 'now', () => now);
  diag.error('at once');
  assert.equal(lines.splice(0).length, 1);
  const error = JSON.stringify({ stack: 'Error\n at x', message: 'say "no"', code: 'NO' });
  const complaints: [logged: string, ...said: [string, ...unknown[]]][] = [
    ['Exporter: it failed', 'Exporter', 'it failed', { data: 1 }],
    ['say \\"no\\"', 'Exporter', error],
    ['ECONNREFUSED', 'Exporter', JSON.stringify({ message: '', code: 'ECONNREFUSED' })],
    ['x'.repeat(200), 'x'.repeat(201)],
  ];
  for (const [place, [logged, ...complaint]] of complaints.entries()) {
    now += fiveMinutes - 1;
    diag.error('too early');
    now += 1;
    diag[place % 2 === 0 ? 'error' : 'warn'](...complaint);
    diag.warn('again');
    assert.deepEqual(lines.splice(0), [['warn', words, { why: logged }]]);
  }
});

test('warns about settings that are ignored', async () => {
  const { lines, log } = keptLog();
  await startTelemetry({
    settings: { traces: false, fromFiles: {} },
    environment: {
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:4318',
      OTEL_NODE_RESOURCE_DETECTORS: 'host',
    },
    program: { name: 'askback', version: '1' },
    log,
  });
  const names = 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, OTEL_NODE_RESOURCE_DETECTORS';
  assert.deepEqual(
    lines.map(([level, said]) => [level, said]),
    [['warn', `these settings are ignored: ${names}`]],
  );
});
