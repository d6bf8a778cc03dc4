import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { startCollector } from '../support/fakes/collector.ts';
import { personalWords, sendOne, tracedScene } from '../support/make/traced-scene.ts';
import { testDatabase } from '../support/probe/database.ts';
import { fromSource } from '../support/processes/program.ts';

const { db, url } = await testDatabase();
const collector = await startCollector();
/** Runs from source, because the modules that a bundle loads cannot be observed. */
const source = { db, url, startService: fromSource.startService };
const callers = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const reporting = {
  NODE_OPTIONS: `--import=${new URL('../support/processes/report-sdk-loading.ts', import.meta.url).href}`,
};
const loads = (lines: readonly string[]) => lines.includes('loads the SDK');

test('the SDK is not loaded without a setting, and traces pass through', async () => {
  const { service, post, hook, webhookId, ...scene } = await tracedScene(source, reporting);
  const headers = { ...scene.client.write, traceparent: callers };
  await sendOne(
    { service, post, hook, webhookId, ...scene },
    { email: personalWords.email, headers },
  );
  await post(`/api/webhooks/${webhookId}/test`, {}, headers);
  const [send] = await db`select traceparent from mails where survey_id = ${scene.survey}`;
  assert.equal(send!['traceparent'], callers);
  assert.deepEqual(
    hook.posts.map(({ traceparent }) => traceparent),
    [callers],
  );
  assert.equal(await service.stop(), 0);
  assert.equal(loads(service.stderr.lines), false);
});

test('an endpoint loads the SDK, without exports when sampling is off', async () => {
  const { service, post, ...scene } = await tracedScene(source, {
    ...reporting,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    OTEL_TRACES_SAMPLER: 'always_off',
  });
  await sendOne({ service, post, ...scene }, { email: personalWords.email });
  const [send] = await db`select traceparent from mails where survey_id = ${scene.survey}`;
  assert.match(send!['traceparent'], /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  assert.equal(await service.stop(), 0);
  assert.equal(loads(service.stderr.lines), true);
  assert.deepEqual(collector.spans, []);
});

test('a hanging collector delays no request, and shutdown by at most 2 s', async () => {
  const hangs = createServer().listen(0, '127.0.0.1');
  await once(hangs, 'listening');
  after(() => hangs.close());
  const { port } = hangs.address() as AddressInfo;
  const { service, post, ...scene } = await tracedScene(source, {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'debug',
  });
  const [exportersPatienceMs, unlimitedMs] = [10_000, 7_000];
  const taken = performance.now();
  await sendOne({ service, post, ...scene }, { email: personalWords.email });
  assert.ok(performance.now() - taken < exportersPatienceMs);
  assert.equal(await service.stop(), 0);
  const stopped = service.stderr.lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg: string; part?: string; time: string });
  const at = (part: string) =>
    Date.parse(stopped.find((line) => line.msg === 'stopped' && line.part === part)!.time);
  const lasted = at('telemetry') - at('counting');
  assert.ok(lasted >= 1900 && lasted < unlimitedMs, `${lasted} ms`);
});
