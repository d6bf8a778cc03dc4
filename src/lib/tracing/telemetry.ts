import { randomUUID } from 'node:crypto';
import { arch, hostname, platform, release } from 'node:os';
import { type Attributes, type DiagLogger, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';
import { traceWith } from './spans.ts';

const shutdownMs = 2000;
const logEveryMs = 300_000;

type Options = {
  settings: { traces: boolean; metrics: boolean; fromFiles: Readonly<Record<string, string>> };
  /** The SDK also reads its settings from here. */
  environment: Record<string, string | undefined>;
  program: { name: string; version: string };
  log: Log;
};

/** Exports spans and metrics as the `OTEL_*` settings say. Without such settings, the SDK is not even loaded. */
export async function startTelemetry(options: Options) {
  const { settings, environment, program, log } = options;
  if (!settings.traces && !settings.metrics) return { shutdown: async () => {} };
  Object.assign(environment, settings.fromFiles);
  const { startNodeSdk } = await import('@opentelemetry/sdk-node');
  const { attributes, named } = resourceOf(environment, program);
  const sdk = startNodeSdk({
    logLevel: 'error',
    // One of the default detectors exports the command line.
    resourceDetectors: [{ detect: () => ({ attributes }) }],
    resourceAttributes: named,
    logRecordProcessors: [],
    ...(settings.traces ? {} : { spanProcessors: [] }),
    ...(settings.metrics ? {} : { metricReaders: [] }),
  });
  const level = (environment['OTEL_LOG_LEVEL'] ?? '').toUpperCase();
  const logLevel = DiagLogLevel[level as keyof typeof DiagLogLevel] ?? DiagLogLevel.WARN;
  diag.setLogger(logAtMostEvery(logEveryMs, log), { logLevel, suppressOverrideMessage: true });
  if (settings.traces) traceWith(tracerOf(program));

  return {
    async shutdown() {
      traceWith(undefined);
      await withinMs(sdk.shutdown().catch(diag.error), shutdownMs, () => {});
    },
  };
}

/** OTEL_RESOURCE_ATTRIBUTES can override `attributes` but not `named`. Never includes the command line. */
function resourceOf(environment: Options['environment'], program: Options['program']) {
  const setting = environment['OTEL_NODE_RESOURCE_DETECTORS'] || 'service';
  const detectors = setting.split(',').map((name) => name.trim());
  const wanted = (name: string) => detectors.includes(name) || detectors.includes('all');
  const attributes: Attributes = {
    'service.name': program.name,
    'service.version': program.version,
    ...(wanted('service') ? { 'service.instance.id': randomUUID() } : {}),
    ...(wanted('host') && {
      'host.name': hostname(),
      'host.arch': arch() === 'x64' ? 'amd64' : arch(),
      'os.type': platform(),
      'os.version': release(),
    }),
    ...(wanted('process') && {
      'process.pid': process.pid,
      'process.runtime.name': 'nodejs',
      'process.runtime.version': process.versions.node,
    }),
  };
  const name = environment['OTEL_SERVICE_NAME'];
  return { attributes, named: name ? { 'service.name': name } : {} };
}

/** If the SDK could not start, it has written the reason to stderr, and the service stops too. */
function tracerOf({ name, version }: Options['program']) {
  const tracer = trace.getTracer(name, version);
  const { traceId } = tracer.startSpan('start').spanContext();
  if (/^0*$/.test(traceId)) throw new Refusal('invalid', 'the OTEL_ settings cannot be used');
  return tracer;
}

/** While exports fail, every batch logs an error, so this drops most of them. */
function logAtMostEvery(ms: number, log: Log): DiagLogger {
  let loggedAt = Number.NEGATIVE_INFINITY;
  const warn = (...parts: unknown[]) => {
    const now = performance.now();
    if (now - loggedAt < ms) return;
    loggedAt = now;
    log.warn({ why: messageOf(parts) }, 'telemetry export has a problem');
  };
  const debug = (...parts: unknown[]) => log.debug({ why: messageOf(parts) }, 'telemetry');
  return { error: warn, warn, info: debug, debug, verbose: debug };
}

/** The SDK logs a component, a message and data. The message may be JSON of an error. The data is dropped. */
function messageOf(parts: readonly unknown[]): string {
  const text = parts.filter((part) => typeof part === 'string').join(': ');
  const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  return (message || code || text).slice(0, 200);
}
