import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instruments } from '../../src/observations/instruments.ts';
import { makeClient, makeSurvey } from '../support/make/rows.ts';
import { testDatabase } from '../support/probe/database.ts';
import { scrape } from '../support/probe/scrape.ts';
import { until } from '../support/probe/until.ts';
import { addressIn, secretKey, startService } from '../support/processes/program.ts';
import { promtool, startPrometheus } from '../support/processes/prometheus.ts';

const token = 'correct-horse';
/** A sampled trace of the caller. */
const trace_id = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${trace_id}-b7ad6b7169203331-01`;
const { db, url } = await testDatabase();
const service = startService({
  DATABASE_URL: url,
  ASKBACK_SECRET_KEY: secretKey,
  PORT: '0',
  LOG_LEVEL: 'warn',
  ASKBACK_METRICS_TOKEN: token,
});
const address = addressIn(await service.ready());
const client = await makeClient(db);
const survey = await makeSurvey(db, client.id, { share_id: 'share' });
const post = (path: string, body: object) =>
  fetch(address + path, {
    method: 'POST',
    headers: { ...client.write, traceparent, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
await post(`/api/v1/surveys/${survey}/send`, { contacts: [{ email: 'ann@people.test' }] });
assert.equal((await post('/f/share', { score: 9 })).status, 201);

const prometheus = await startPrometheus({ target: new URL(address).host, token });
await until('the answer is scraped', async () => {
  const [scraped] =
    (await prometheus.query('askback_answers_total{category="promoter"} == 1')) ?? [];
  return scraped;
});

test('promtool accepts the text format', async () => {
  const { text } = await scrape(address, { Authorization: `Bearer ${token}` });
  assert.deepEqual(await promtool(['check', 'metrics'], text), { code: 0, output: '' });
});

for (const { name, kind, help } of instruments) {
  test(`Prometheus reads ${name} correctly`, async () => {
    const family = name.replace(/_total$/, '');
    const found = await prometheus.metadata(family);
    assert.deepEqual(found, [
      { type: kind, help, unit: name.endsWith('_seconds') ? 'seconds' : '' },
    ]);
  });
}

test('Prometheus has the trace of a measured request', async () => {
  const ofSends = 'http_server_request_duration_seconds_bucket{http_route=~".*/send"}';
  assert.deepEqual(await prometheus.exemplars(ofSends), [{ trace_id }]);
});
