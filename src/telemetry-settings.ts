import { type Environment, failureOf, type ReadFile, readValues } from './settings-validators.ts';

export type TelemetrySettings = {
  traces: boolean;
  metrics: boolean;
  /** Values given as files, by the names under which the SDK looks for them. */
  fromFiles: Readonly<Record<string, string>>;
};

/**
 * Refuses the `OTEL_*` settings that askback does not support and the SDK would not report. While nothing is exported
 * the settings may be meant for other programs.
 */
export function readTelemetry(
  environment: Environment,
  readFile: ReadFile,
): { settings: TelemetrySettings; complaints: string[] } {
  const files = readValues(otlpNames('HEADERS'), environment, readFile);
  const traces = isExported(environment, 'TRACES');
  const metrics = isExported(environment, 'METRICS');
  const complaints = [...files.complaints];
  if (!traces && !metrics) return { settings: { traces, metrics, fromFiles: {} }, complaints };
  if (environment['OTEL_CONFIG_FILE']) complaints.push(noConfigurationFile);
  const refuse = (names: readonly string[], reasonFor: (value: string) => string | undefined) => {
    for (const name of names) {
      const reason = environment[name] && reasonFor(environment[name].trim());
      if (reason) complaints.push(`${name}: ${reason}`);
    }
  };
  refuse(['OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER'], (value) =>
    words(value).every((word) => word === 'otlp' || word === 'none') ? undefined : noExporter,
  );
  refuse(otlpNames('PROTOCOL'), (value) =>
    /^http\/(protobuf|json)$/.test(value) ? undefined : `${value} ${noProtocol}`,
  );
  refuse(otlpNames('ENDPOINT'), (value) =>
    /^https?:$/.test(URL.parse(value)?.protocol ?? '')
      ? undefined
      : 'must be an address that begins with http:// or https://',
  );
  // The SDK would go on without a certificate that it cannot read.
  refuse(['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].flatMap(otlpNames), (path) => {
    const reason = failureOf(() => readFile(path));
    return reason && `cannot be read: ${reason}`;
  });
  return { settings: { traces, metrics, fromFiles: files.fromFiles }, complaints };
}

function isExported(environment: Environment, signal: 'TRACES' | 'METRICS'): boolean {
  if (/^true$/i.test(environment['OTEL_SDK_DISABLED'] ?? '')) return false;
  const exporters = environment[`OTEL_${signal}_EXPORTER`];
  if (exporters) return !words(exporters).includes('none');
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  return endpoints.some((name) => environment[name]);
}

const otlpNames = (what: string) =>
  ['', 'TRACES_', 'METRICS_'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}${what}`);

const words = (text: string) => text.split(',').map((word) => word.trim());

const noConfigurationFile =
  'OTEL_CONFIG_FILE: is not read by askback: set the other OTEL_ variables instead';
const noExporter =
  'must be otlp or none: console would mix with the output, and prometheus is /metrics';
const noProtocol =
  'is not spoken by askback: use http/protobuf or http/json, and the port of the collector for HTTP, 4318 as a rule';
