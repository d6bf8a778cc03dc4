import { type Environment, type ReadFile, readValues } from './settings-validators.ts';

export type TelemetrySettings = {
  traces: boolean;
  /** Values read from files, by their name in the SDK. */
  fromFiles: Readonly<Record<string, string>>;
};

/**
 * Refuses unsupported `OTEL_*` settings that the SDK would silently ignore. Without an exporter they are not checked,
 * because they may be for other programs.
 */
export function readTelemetry(
  environment: Environment,
  readFile: ReadFile,
): { settings: TelemetrySettings; complaints: string[] } {
  const files = readValues(otlpNames('HEADERS'), environment, readFile);
  const { complaints, fromFiles } = files;
  if (!isExported(environment)) return { settings: { traces: false, fromFiles: {} }, complaints };
  if (environment['OTEL_CONFIG_FILE']) complaints.push(noConfigurationFile);
  const refuse = (names: readonly string[], reasonFor: (value: string) => string | undefined) => {
    for (const name of names) {
      const reason = environment[name] && reasonFor(environment[name].trim());
      if (reason) complaints.push(`${name}: ${reason}`);
    }
  };
  refuse(['OTEL_TRACES_EXPORTER'], (value) =>
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
  // The SDK would silently ignore an unreadable certificate.
  refuse(['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].flatMap(otlpNames), (path) => {
    try {
      readFile(path);
      return undefined;
    } catch (error) {
      return `cannot be read: ${(error as Error).message}`;
    }
  });
  return { settings: { traces: true, fromFiles }, complaints };
}

function isExported(environment: Environment): boolean {
  if (/^true$/i.test(environment['OTEL_SDK_DISABLED'] ?? '')) return false;
  const exporters = environment['OTEL_TRACES_EXPORTER'];
  if (exporters) return !words(exporters).includes('none');
  return otlpNames('ENDPOINT').some((name) => environment[name]);
}

const otlpNames = (what: string) =>
  ['', 'TRACES_'].map((signal) => `OTEL_EXPORTER_OTLP_${signal}${what}`);

const words = (text: string) => text.split(',').map((word) => word.trim());

const noConfigurationFile =
  'OTEL_CONFIG_FILE: is not supported: set the other OTEL_ variables instead';
const noExporter = 'must be otlp or none: console would mix with the output';
const noProtocol =
  'is not supported: use http/protobuf or http/json and the HTTP port of the collector, usually 4318';
