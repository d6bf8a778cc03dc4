import * as v from 'valibot';
import { complaint } from '../lib/validation/parse.ts';
import { forEach, readFiles, unreadable } from './telemetry-files.ts';
import { address, whole } from './validators.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What is exported, by settings that are OpenTelemetry's own. */
export type TelemetrySettings = {
  traces: boolean;
  metrics: boolean;
  /** What was given as files, by the names under which the SDK looks for it. */
  fromFiles: Readonly<Record<string, string>>;
};

type Read = { settings: TelemetrySettings; complaints: string[] };

/**
 * Whether anything is exported, and what is wrong with the settings of that: the SDK would go on without
 * a word, with a default. As long as nothing is exported they may be meant for other programs.
 */
export function readTelemetry(given: Environment, readFile: (path: string) => string): Read {
  const { fromFiles, complaints } = readFiles(given, readFile);
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
  if (exporters) return !split(exporters).includes('none');
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
  'OTEL_CONFIG_FILE: is not read by askback: say the same by the other OTEL_ variables';
const noRatio = 'OTEL_TRACES_SAMPLER_ARG: is required by this OTEL_TRACES_SAMPLER, from 0 to 1';
const noGrpc =
  'is not spoken by askback: use http/protobuf or http/json, and the port of the collector for HTTP, 4318 as a rule';

const split = (text: string) => text.split(',').map((word) => word.trim());

const word = (...allowed: string[]) => v.picklist(allowed, `must be one of ${allowed.join(', ')}`);
const words = (...allowed: string[]) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => split(text).every((word) => allowed.includes(word)),
      `must be one or more of ${allowed.join(', ')}`,
    ),
  );
/** What the SDK would print belongs to nobody who reads our output; what it would listen on has no guard. */
const exporters = v.pipe(
  v.string(),
  v.check(
    (text) => !split(text).includes('console'),
    'console would mix with the output: use otlp',
  ),
  v.check(
    (text) => !split(text).includes('prometheus'),
    'prometheus is /metrics: use otlp or none',
  ),
  v.check(
    (text) => split(text).every((word) => /^(otlp|none|console|prometheus)$/.test(word)),
    'must be one or more of otlp, none',
  ),
);
const count = whole(1, 999_999_999);
const pairs = v.pipe(
  v.string(),
  v.check((text) => split(text).every(isPair), 'must be name=value,name=value, percent-encoded'),
);
const headers = v.pipe(
  pairs,
  v.check((text) => split(text).every(isHeader), 'must have names and values that HTTP can carry'),
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
const samplers = ['always_on', 'always_off', 'traceidratio'];

function isPair(text: string): boolean {
  if (text === '') return true;
  try {
    return /^[^=]+=/.test(text) && decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/** An export that cannot even be asked for fails each time, in a line that is written cachedFor. */
function isHeader(text: string): boolean {
  if (text === '' || !isPair(text)) return true; // said already
  const at = text.indexOf('=');
  const name = decodeURIComponent(text.slice(0, at)).trim();
  const value = decodeURIComponent(text.slice(at + 1));
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

const all = <S>(names: readonly string[], schema: S) =>
  Object.fromEntries(names.map((name) => [name, schema]));

const optional = {
  OTEL_SDK_DISABLED: v.pipe(v.string(), v.regex(/^(true|false)$/i, 'must be true or false')),
  OTEL_TRACES_EXPORTER: exporters,
  OTEL_METRICS_EXPORTER: exporters,
  ...all(forEach('OTEL_EXPORTER_OTLP', 'ENDPOINT'), address('http:', 'https:')),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'PROTOCOL'), protocol),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'HEADERS'), headers),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'TIMEOUT'), count),
  ...all(forEach('OTEL_EXPORTER_OTLP', 'COMPRESSION'), word('gzip', 'none')),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: word(...samplers, ...samplers.map((name) => `parentbased_${name}`)),
  OTEL_TRACES_SAMPLER_ARG: ratio,
  OTEL_PROPAGATORS: v.pipe(
    v.string(),
    v.check(
      (text) => split(text).includes('tracecontext'),
      'must have tracecontext, which is what askback passes on',
    ),
  ),
  OTEL_LOG_LEVEL: v.pipe(
    v.string(),
    v.regex(/^(none|error|warn|info|debug|verbose|all)$/i, 'must be a level such as info'),
  ),
  OTEL_NODE_RESOURCE_DETECTORS: words('service', 'host', 'process', 'all', 'none'),
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
