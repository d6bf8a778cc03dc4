import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTelemetry } from '../../src/telemetry-settings.ts';

const noFile = () => {
  throw new Error('no such file');
};
const read = (environment: Record<string, string>) => readTelemetry(environment, noFile);
const exported = (environment: Record<string, string>) => {
  const { traces, metrics } = read(environment).settings;
  return { traces, metrics };
};
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const cases: [string, Record<string, string>, boolean, boolean][] = [
  ['nothing is said', {}, false, false],
  ['only a name is said', { OTEL_SERVICE_NAME: 'feedback' }, false, false],
  ['an endpoint is for both', endpoint, true, true],
  ['an endpoint for traces', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:1/t' }, true, false],
  ['one for metrics', { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://c:1/m' }, false, true],
  ['an exporter is enough', { OTEL_TRACES_EXPORTER: 'otlp' }, true, false],
  ['none is none', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false, true],
  ['disabled is disabled', { ...endpoint, OTEL_SDK_DISABLED: 'true' }, false, false],
  ['empty is not said', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false, false],
];
for (const [what, environment, traces, metrics] of cases) {
  test(`what is exported: ${what}`, () => {
    assert.deepEqual(exported(environment), { traces, metrics });
    assert.deepEqual(read(environment).complaints, []);
  });
}

const wrong: [Record<string, string>, RegExp][] = [
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /^OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not spoken .*4318/,
  ],
  [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http' }, /_TRACES_PROTOCOL: must be http\/protobuf or/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /_ENDPOINT: must be an address/],
  [{ OTEL_TRACES_EXPORTER: 'jaeger' }, /^OTEL_TRACES_EXPORTER: must be one or more of otlp/],
  [{ OTEL_TRACES_EXPORTER: 'otlp,console' }, /^OTEL_TRACES_EXPORTER: console would mix/],
  [{ OTEL_METRICS_EXPORTER: 'prometheus' }, /^OTEL_METRICS_EXPORTER: prometheus is \/metrics/],
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /^OTEL_TRACES_SAMPLER: must be/],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, /^OTEL_TRACES_SAMPLER_ARG: is required/],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '10' },
    /_ARG: must be a number/,
  ],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization' }, /_HEADERS: must be name=value/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'api key=1' }, /_HEADERS: must have names and values/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2%0d%0ac: 3' }, /_HEADERS: must have names and values/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' }, /_HEADERS: must be name=value/],
  [
    { OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: '/no.pem' },
    /^OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: cannot be read: no such file/,
  ],
  [{ OTEL_TRACES_SAMPLER: 'always_on,always_off' }, /^OTEL_TRACES_SAMPLER: must be one of/],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'a=%zz' }, /^OTEL_RESOURCE_ATTRIBUTES: must be name=value/],
  [{ OTEL_BSP_MAX_QUEUE_SIZE: 'many' }, /^OTEL_BSP_MAX_QUEUE_SIZE: must be a whole number/],
  [{ OTEL_PROPAGATORS: 'b3' }, /^OTEL_PROPAGATORS: must have tracecontext/],
  [{ OTEL_LOG_LEVEL: 'loud' }, /^OTEL_LOG_LEVEL: must be a level/],
  [{ OTEL_CONFIG_FILE: '/etc/otel.yaml' }, /^OTEL_CONFIG_FILE: is not read by askback/],
  [{ OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/h' }, /^OTEL_EXPORTER_OTLP_HEADERS_FILE: cannot be/],
];
for (const [over, complaint] of wrong) {
  test(`a mistake is reported: ${JSON.stringify(over)}`, () => {
    const { complaints } = read({ ...endpoint, ...over });
    assert.equal(complaints.length, 1);
    assert.match(complaints[0]!, complaint);
  });
}

test('while nothing is exported the settings may be meant for other programs', () => {
  assert.deepEqual(read({ OTEL_TRACES_SAMPLER: 'theirs' }).complaints, []);
});
