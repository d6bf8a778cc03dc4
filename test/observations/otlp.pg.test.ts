import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { instruments } from '../../src/observations/instruments.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';

type Exported = {
  resourceMetrics: { scopeMetrics: { scope: { name: string }; metrics: { name: string }[] }[] }[];
};

test('the service exports counters and gauges to a collector', async () => {
  const seen = new Set<string>();
  const collector = createServer(async (request, response) => {
    const { resourceMetrics } = (await json(request)) as Exported;
    for (const { scope, metrics } of resourceMetrics.flatMap((each) => each.scopeMetrics)) {
      for (const { name } of metrics) seen.add(`${scope.name}: ${name}`);
    }
    response.setHeader('Content-Type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  after(() => collector.close().closeAllConnections());

  const { url } = await testDatabase();
  const service = startService({
    DATABASE_URL: url,
    ASKBACK_SECRET_KEY: secretKey,
    PORT: '0',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_METRIC_EXPORT_INTERVAL: '3000',
    OTEL_METRIC_EXPORT_TIMEOUT: '3000',
  });
  const address = addressIn(await service.ready());
  await fetch(`${address}/s/unknown`);
  const observed = instruments.filter(({ how }) => how === 'observed').length;
  await until(
    'everything was exported',
    () => seen.has('askback: http.server.request.duration') && seen.has('askback: askback.ready'),
  );
  const measured = [...seen].filter((name) => name.startsWith('askback: askback.'));
  assert.ok(measured.length >= observed, measured.join());
  assert.equal(await service.stop(), 0);
});
