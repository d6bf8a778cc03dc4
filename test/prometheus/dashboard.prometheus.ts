import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';
import { promtool, startPrometheus } from '../support/processes/prometheus.ts';

const token = 'a-token-for-metrics';
const scores = [3, 8, 10];
const { db, url } = await testDatabase();
/** Receives webhooks and spans. */
const subscriber = createServer((request, response) => {
  request.resume();
  response.end('{}');
}).listen(0, '127.0.0.1');
await once(subscriber, 'listening');
after(() => subscriber.close().closeAllConnections());
const receiver = `http://127.0.0.1:${(subscriber.address() as AddressInfo).port}`;

for (const words of [
  ['check', 'rules', 'ops/prometheus/rules.yml'],
  ['test', 'rules', 'ops/prometheus/rules.test.yml'],
  ['check', 'config', '--syntax-only', 'ops/prometheus/prometheus.yml'],
]) {
  test(`promtool ${words.slice(0, 2).join(' ')} accepts ${words.at(-1)}`, async () => {
    const { code, output } = await promtool(words);
    assert.equal(code, 0, output);
  });
}

const { panels } = JSON.parse(readFileSync('ops/grafana/askback.json', 'utf8'));
const queries: [panel: string, expression: string][] = panels.flatMap(
  ({ title, targets = [] }: { title: string; targets?: { expr: string }[] }) =>
    targets.map(({ expr }) => [title, withVariables(expr)]),
);

function withVariables(expression: string): string {
  const variables = { $job: 'askback', $__rate_interval: '1m', $__range: '1m' };
  return Object.entries(variables).reduce(
    (text, [name, value]) => text.replaceAll(name, value),
    expression,
  );
}

test('Prometheus answers every panel and evaluates every rule', async (t) => {
  const service = startService({
    DATABASE_URL: url,
    PORT: '0',
    ASKBACK_SECRET_KEY: secretKey,
    ASKBACK_WEBHOOK_HTTP: 'allow',
    ASKBACK_WEBHOOK_ALLOW: '127.0.0.0/8',
    ASKBACK_METRICS_TOKEN: token,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver,
  });
  const address = addressIn(await service.ready());
  const prometheus = await startPrometheus({ target: new URL(address).host, token });
  await until('it is scraped', async () => {
    const [up] = (await prometheus.query('up{job="askback"}')) ?? [];
    return up?.value[1] === '1';
  });
  // Two rounds, because a new series has no rate yet.
  for (const round of [1, 2]) {
    await traffic(address);
    await until('the deliveries are scraped', async () => {
      const delivered = `askback_deliveries_total{channel="webhook",outcome="delivered"}`;
      const [scraped] = (await prometheus.query(delivered))!;
      return Number(scraped?.value[1]) === round * scores.length;
    });
  }

  // A quiet service may not have collected any garbage yet.
  await until('a garbage collection is scraped', async () => {
    await Promise.all(Array.from({ length: 50 }, () => fetch(`${address}/docs`)));
    const collections = 'rate(nodejs_gc_duration_seconds_sum{job="askback"}[1m])';
    return ((await prometheus.query(collections)) ?? []).length > 0;
  });

  for (const [panel, expression] of queries) {
    await t.test(`"${panel}": ${expression.slice(0, 60)}`, async () => {
      const series = await prometheus.query(expression);
      assert.ok(series && series.length > 0, `no answer to ${expression}`);
    });
  }
  await t.test('the exemplar of a delivery contains its trace id', async () => {
    const ofWebhooks = 'askback_delivery_duration_seconds_bucket{channel="webhook"}';
    const exemplars = await prometheus.exemplars(ofWebhooks);
    const traces = await db<{ trace_id: string }[]>`
      select split_part(traceparent, '-', 2) as trace_id from deliveries`;
    assert.ok(exemplars.length > 0);
    for (const { trace_id } of exemplars) {
      assert.ok(traces.some((delivery) => delivery.trace_id === trace_id));
    }
  });
  await t.test('every rule can be evaluated, and no alert fires', async () => {
    await until('all were evaluated', async () =>
      (await prometheus.rules()).every(({ health }) => health !== 'unknown'),
    );
    for (const { name, type, health, state, lastError } of await prometheus.rules()) {
      assert.equal(health, 'ok', `${name}: ${lastError}`);
      if (type === 'alerting') assert.notEqual(state, 'firing', name);
    }
  });
});

/** Generates requests, mails to the mailbox, answers and deliveries. */
async function traffic(address: string) {
  const organization = await makeClient(db);
  const share_id = randomUUID();
  const survey = await makeSurvey(db, organization.id, { share_id });
  const post = async (path: string, body: object) => {
    const headers = { ...organization.write, Accept: 'application/json' };
    const response = await fetch(address + path, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${path}: ${response.status}`);
  };
  await post('/api/webhooks', { url: `${receiver}/hook`, events: ['response.received'] });
  const contacts = [{ email: 'ann@people.test' }, { email: 'nobody' }];
  await post(`/api/v1/surveys/${survey}/send`, { contacts });
  for (const score of scores) await post(`/f/${share_id}`, { score });
}
