import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  createRecorder,
  type Family,
  type Instrument,
  traceOf,
} from '../../../src/lib/metrics/recorder.ts';
import { expose, metricsRoutes } from '../../../src/lib/metrics/routes.ts';

const teas = {
  name: 'teas_total',
  kind: 'counter',
  help: 'Cups of tea.',
  how: 'recorded',
  labels: { kind: ['green', 'black'] },
} as const satisfies Instrument;
const steeping = {
  name: 'tea_steeping_seconds',
  kind: 'histogram',
  help: 'How long.',
  how: 'recorded',
  labels: {},
  buckets: [1, 60],
} as const satisfies Instrument;
const trace_id = '0af7651916cd43dd8448eb211c80319c';

async function exposed(
  instrument: Instrument,
  act: (r: ReturnType<typeof createRecorder>) => void,
) {
  const recorder = createRecorder([instrument]);
  act(recorder);
  const families = await recorder.families();
  return { plain: expose(families, 'prometheus'), open: expose(families, 'openmetrics') };
}

test('a counter is named as each format requires', async () => {
  const { plain, open } = await exposed(teas, ({ record }) => {
    record({ name: 'teas_total', labels: { kind: 'green' } }, null);
    record({ name: 'teas_total', labels: { kind: 'green' }, value: 2 }, null);
  });
  assert.equal(
    plain,
    '# TYPE teas_total counter\n# HELP teas_total Cups of tea.\nteas_total{kind="green"} 3\n',
  );
  assert.equal(
    open,
    '# TYPE teas counter\n# HELP teas Cups of tea.\nteas_total{kind="green"} 3\n# EOF\n',
  );
});

test('a histogram has buckets, +Inf and, in OpenMetrics, its unit', async () => {
  const { plain, open } = await exposed(steeping, ({ record }) => {
    for (const value of [0.5, 30, 90]) record({ name: steeping.name, labels: {}, value }, null);
  });
  assert.match(open, /^# UNIT tea_steeping_seconds seconds$/m);
  assert.doesNotMatch(plain, /UNIT/);
  const samples = plain.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.deepEqual(samples, [
    'tea_steeping_seconds_bucket{le="1"} 1',
    'tea_steeping_seconds_bucket{le="60"} 2',
    'tea_steeping_seconds_bucket{le="+Inf"} 3',
    'tea_steeping_seconds_sum 120.5',
    'tea_steeping_seconds_count 3',
  ]);
});

test('a traced value is the exemplar of its bucket in OpenMetrics', async () => {
  const { plain, open } = await exposed(steeping, ({ record }) => {
    record({ name: steeping.name, labels: {}, value: 30 }, { trace_id });
    record({ name: steeping.name, labels: {}, value: 0.5 }, null);
  });
  const exemplar = new RegExp(
    `^tea_steeping_seconds_bucket{le="60"} 2 # {trace_id="${trace_id}"} 30 \\d+\\.\\d{3}$`,
    'm',
  );
  assert.match(open, exemplar);
  assert.equal(open.split('trace_id').length, 2);
  assert.doesNotMatch(plain, /trace_id/);
});

for (const [traceparent, found] of [
  [`00-${trace_id}-b7ad6b7169203331-01`, { trace_id }],
  [`00-${trace_id}-b7ad6b7169203331-00`, null],
  [null, null],
  [undefined, null],
] as const) {
  test(`the exemplar trace of ${traceparent} is ${found?.trace_id ?? 'none'}`, () =>
    assert.deepEqual(traceOf(traceparent), found));
}

test('an unknown label value counts as other', async () => {
  const { plain } = await exposed(teas, ({ record }) => {
    for (const kind of ['ann@example.org', 'bob@example.org']) {
      record({ name: 'teas_total', labels: { kind } }, null);
    }
  });
  assert.match(plain, /^teas_total{kind="other"} 2$/m);
  assert.doesNotMatch(plain, /example/);
});

test('a counter with fromZero is exported as 0 at the start', async () => {
  const { plain } = await exposed({ ...teas, fromZero: true }, () => {});
  assert.match(plain, /^teas_total{kind="green"} 0\nteas_total{kind="black"} 0$/m);
});

test('quotes, backslashes and line breaks are escaped', () => {
  const family: Family = {
    name: 'odd',
    kind: 'gauge',
    help: 'a "b"\\\nc',
    samples: [{ labels: { what: 'x"\\\ny' }, value: Number.POSITIVE_INFINITY }],
  };
  assert.equal(
    expose([family], 'prometheus'),
    '# TYPE odd gauge\n# HELP odd a "b"\\\\\\nc\nodd{what="x\\"\\\\\\ny"} +Inf\n',
  );
  assert.match(expose([family], 'openmetrics'), /^# HELP odd a \\"b\\"\\\\\\nc$/m);
});

for (const [accept, type] of [
  ['', 'text/plain'],
  ['Application/OpenMetrics-Text; version=1.0.0; charset=utf-8', 'application/openmetrics-text'],
  ['application/openmetrics-text;q=0.2,text/plain;q=0.9', 'text/plain'],
  [
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    'application/openmetrics-text',
  ],
] as const) {
  test(`/metrics is ${type} when a client accepts "${accept.slice(0, 30)}"`, async () => {
    const access = { token: null, ownAddress: true, trustsLocal: false, settings: '' };
    const app = metricsRoutes({ families: async () => [], access });
    const response = await app.request('/metrics', { headers: { Accept: accept } });
    assert.ok(response.headers.get('Content-Type')!.startsWith(`${type};`));
  });
}

test('a process without file access reports no metric as 0', async () => {
  const script = fileURLToPath(
    new URL('../../support/processes/process-metrics.ts', import.meta.url),
  );
  const permissions = ['--permission', '--allow-fs-read=*'];
  const { stdout } = await promisify(execFile)(process.execPath, [...permissions, script]);
  const shown = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')),
  );
  assert.ok(Number(shown['process_resident_memory_bytes']) > 1e6, stdout);
  assert.ok(Number(shown['process_start_time_seconds']) > 1e9, stdout);
  assert.ok(!('process_open_fds' in shown) && !('process_virtual_memory_bytes' in shown), stdout);
});
