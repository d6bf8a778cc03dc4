import * as v from 'valibot';
import { complaint } from './lib/validation/parse.ts';
import {
  address,
  type Environment,
  failureOf,
  type ReadFile,
  readValues,
  whole,
} from './settings-validators.ts';

export type TelemetrySettings = {
  traces: boolean;
  metrics: boolean;
  /** Values given as files, by the names under which the SDK looks for them. */
  fromFiles: Readonly<Record<string, string>>;
};

type TelemetryReading = { settings: TelemetrySettings; complaints: string[] };

/**
 * Complains of mistakes that the SDK would ignore for a default. While nothing is exported the settings may be
 * meant for other programs.
 */
export function readTelemetry(given: Environment, readFile: ReadFile): TelemetryReading {
  const inFiles = forEach('OTEL_EXPORTER_OTLP', 'HEADERS');
  const { fromFiles, complaints } = readValues(inFiles, given, readFile);
  const environment = { ...given, ...fromFiles };
  const off = { traces: false, metrics: false, fromFiles: {} };
  if (/^true$/i.test(environment['OTEL_SDK_DISABLED'] ?? '')) return { settings: off, complaints };
  const traces = isExported(environment, 'TRACES');
  const metrics = isExported(environment, 'METRICS');
  const settings = { traces, metrics, fromFiles };
  if (environment['OTEL_CONFIG_FILE']) complaints.push(noConfigurationFile);
  if (!traces && !metrics) return { settings: off, complaints };
  complaints.push(...complaintsOf(environment), ...unreadable(environment, readFile));
  return { settings, complaints };
}

function isExported(environment: Environment, signal: 'TRACES' | 'METRICS'): boolean {
  const exporters = environment[`OTEL_${signal}_EXPORTER`];
  if (exporters) return !words(exporters).includes('none');
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  return endpoints.some((name) => environment[name]);
}

function complaintsOf(environment: Environment): string[] {
  const values = Object.fromEntries(
    Object.keys(Known.entries).flatMap((name) =>
      environment[name] ? [[name, environment[name].trim()]] : [],
    ),
  );
  const parsed = v.safeParse(Known, values);
  const complaints = parsed.success ? [] : parsed.issues.map(complaint);
  if (/traceidratio$/.test(values['OTEL_TRACES_SAMPLER'] ?? '')) {
    if (!values['OTEL_TRACES_SAMPLER_ARG']) complaints.push(noRatio);
  }
  return complaints;
}

const noConfigurationFile =
  'OTEL_CONFIG_FILE: is not read by askback: set the other OTEL_ variables instead';
const noRatio = 'OTEL_TRACES_SAMPLER_ARG: is required by this OTEL_TRACES_SAMPLER, from 0 to 1';

const words = (text: string) => text.split(',').map((word) => word.trim());

/** The SDK would go on without a certificate that it cannot read. */
function unreadable(environment: Environment, readFile: ReadFile): string[] {
  const names = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].flatMap((what) =>
    forEach('OTEL_EXPORTER_OTLP', what),
  );
  return names.flatMap((name) => {
    const path = environment[name];
    const why = path && failureOf(() => readFile(path));
    return why ? [`${name}: cannot be read: ${why}`] : [];
  });
}

const samplers = ['always_on', 'always_off', 'traceidratio'];

function forEach(prefix: string, what: string): string[] {
  return ['', 'TRACES_', 'METRICS_'].map((signal) => `${prefix}_${signal}${what}`);
}

const all = <S>(names: readonly string[], schema: S) =>
  Object.fromEntries(names.map((name) => [name, schema]));

const noGrpc =
  'is not spoken by askback: use http/protobuf or http/json, and the port of the collector for HTTP, 4318 as a rule';

const oneOf = (...allowed: string[]) => v.picklist(allowed, `must be one of ${allowed.join(', ')}`);
const someOf = (...allowed: string[]) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => words(text).every((word) => allowed.includes(word)),
      `must be one or more of ${allowed.join(', ')}`,
    ),
  );
/** The console exporter would print into the program's own output; the Prometheus one listens without access control. */
const exporters = v.pipe(
  v.string(),
  v.check(
    (text) => !words(text).includes('console'),
    'console would mix with the output: use otlp',
  ),
  v.check(
    (text) => !words(text).includes('prometheus'),
    'prometheus is /metrics: use otlp or none',
  ),
  v.check(
    (text) => words(text).every((word) => /^(otlp|none|console|prometheus)$/.test(word)),
    'must be one or more of otlp, none',
  ),
);
const count = whole(1, 999_999_999);
const pairs = v.pipe(
  v.string(),
  v.check((text) => words(text).every(isPair), 'must be name=value,name=value, percent-encoded'),
);
const headers = v.pipe(
  pairs,
  v.check((text) => words(text).every(isHeader), 'must have names and values that HTTP can carry'),
);
const protocol = v.pipe(
  v.string(),
  v.check((text) => text !== 'grpc', `grpc ${noGrpc}`),
  v.check(
    (text) => /^(grpc|http\/(protobuf|json))$/.test(text),
    'must be http/protobuf or http/json',
  ),
);
const ratio = v.pipe(
  v.string(),
  v.check((text) => /^\d*\.?\d+$/.test(text) && Number(text) <= 1, 'must be a number from 0 to 1'),
);

function isPair(text: string): boolean {
  if (text === '') return true;
  try {
    return /^[^=]+=/.test(text) && decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** An export with a header that HTTP cannot carry would fail each time. */
function isHeader(text: string): boolean {
  if (text === '' || !isPair(text)) return true; // another check reports it
  const at = text.indexOf('=');
  const name = decodeURIComponent(text.slice(0, at)).trim();
  const value = decodeURIComponent(text.slice(at + 1));
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

const optional = {
  OTEL_SDK_DISABLED: v.pipe(v.string(), v.regex(/^(true|false)$/i, 'must be true or false')),
  OTEL_TRACES_EXPORTER: exporters,
  OTEL_METRICS_EXPORTER: exporters,
  ...all(forEach('OTEL_EXPORTER_OTLP', 'ENDPOINT'), address('http:', 'https:')),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'PROTOCOL'), protocol),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'HEADERS'), headers),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'TIMEOUT'), count),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'COMPRESSION'), oneOf('gzip', 'none')),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: oneOf(...samplers, ...samplers.map((name) => `parentbased_${name}`)),
  OTEL_TRACES_SAMPLER_ARG: ratio,
  OTEL_PROPAGATORS: v.pipe(
    v.string(),
    v.check(
      (text) => words(text).includes('tracecontext'),
      'must have tracecontext, which is what askback passes on',
    ),
  ),
  OTEL_LOG_LEVEL: v.pipe(
    v.string(),
    v.regex(/^(none|error|warn|info|debug|verbose|all)$/i, 'must be a level such as info'),
  ),
  OTEL_NODE_RESOURCE_DETECTORS: someOf('service', 'host', 'process', 'all', 'none'),
  ...all(
    ['MAX_QUEUE_SIZE', 'SCHEDULE_DELAY', 'EXPORT_TIMEOUT', 'MAX_EXPORT_BATCH_SIZE'].map(
      (name) => `OTEL_BSP_${name}`,
    ),
    count,
  ),
  ...all(['OTEL_METRIC_EXPORT_INTERVAL', 'OTEL_METRIC_EXPORT_TIMEOUT'], count),
  ...all(
    ['ATTRIBUTE_COUNT', 'ATTRIBUTE_VALUE_LENGTH', 'EVENT_COUNT', 'LINK_COUNT'].flatMap((what) => [
      `OTEL_SPAN_${what}_LIMIT`,
      `OTEL_${what}_LIMIT`,
    ]),
    count,
  ),
};

const Known = v.partial(v.object(optional));
