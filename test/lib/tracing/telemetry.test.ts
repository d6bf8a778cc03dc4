import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SpanKind } from '@opentelemetry/api';
import { createLog } from '../../../src/lib/log/log.ts';
import { inSpan } from '../../../src/lib/tracing/spans.ts';
import { startTelemetry } from '../../../src/lib/tracing/telemetry.ts';

test('what is wrong with the export is written in the exporter’s words, not only whose they are', async () => {
  const collector = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('no protobuf'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = `http://127.0.0.1:${port}/v1/traces`;
  const lines: Record<string, string>[] = [];

  const telemetry = await startTelemetry({
    settings: { traces: true, metrics: false, fromFiles: {} },
    environment: process.env,
    program: { name: 'askback', version: '1' },
    log: createLog({ level: 'warn', to: { write: (line) => lines.push(JSON.parse(line)) } }),
  });
  const work = { name: 'work', kind: SpanKind.INTERNAL, attributes: {} };
  await inSpan(
    { traceparent: null, agoMs: 0 },
    () => work,
    async () => {},
  );
  await telemetry.shutdown();
  collector.close();

  assert.match(lines[0]?.['why'] ?? '', /Export succeeded but could not deserialize response/);
});
