import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTelemetry } from '../../src/telemetry-settings.ts';

const noFile = () => {
  throw new Error('no such file');
};
const read = (environment: Record<string, string>) => readTelemetry(environment, noFile);
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

const cases: [string, Record<string, string>, boolean][] = [
  ['nothing is set', {}, false],
  ['only a name is set', { OTEL_SERVICE_NAME: 'feedback' }, false],
  ['an endpoint is set', endpoint, true],
  ['a traces endpoint is set', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:1/t' }, true],
  ['only an exporter is set', { OTEL_TRACES_EXPORTER: 'otlp' }, true],
  ['the traces exporter is none', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, false],
  ['the SDK is disabled', { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, false],
  ['the endpoint is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
];
for (const [what, environment, traces] of cases) {
  test(`exports ${traces ? 'traces' : 'nothing'} when ${what}`, () => {
    const { settings, complaints } = read(environment);
    assert.deepEqual([settings.traces, complaints], [traces, []]);
  });
}

const wrong: [Record<string, string>, RegExp][] = [
  [
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /^OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported.*4318/,
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /_ENDPOINT: must be an address/],
  [{ OTEL_TRACES_EXPORTER: 'otlp,console' }, /^OTEL_TRACES_EXPORTER: must be otlp or none/],
  [
    { OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: '/no.pem' },
    /^OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: cannot be read: no such file/,
  ],
  [{ OTEL_CONFIG_FILE: '/etc/otel.yaml' }, /^OTEL_CONFIG_FILE: is not supported/],
  [{ OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/h' }, /^OTEL_EXPORTER_OTLP_HEADERS_FILE: cannot be/],
];
for (const [over, complaint] of wrong) {
  test(`rejects ${JSON.stringify(over)}`, () => {
    const { complaints } = read({ ...endpoint, ...over });
    assert.equal(complaints.length, 1);
    assert.match(complaints[0]!, complaint);
  });
}

test('OTEL settings are not checked without an exporter', () => {
  assert.deepEqual(read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }).complaints, []);
});
