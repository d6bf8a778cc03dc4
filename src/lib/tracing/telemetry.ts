import { randomUUID } from 'node:crypto';
import { type DiagLogger, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';
import { traceWith } from './spans.ts';

const shutdownMs = 2000;
const logEveryMs = 300_000;

type Options = {
  settings: { traces: boolean; fromFiles: Readonly<Record<string, string>> };
  /** The SDK also reads its settings from here. */
  environment: Record<string, string | undefined>;
  program: { name: string; version: string };
  log: Log;
};

/** Exports spans as the `OTEL_*` settings say. Without such settings, the SDK is not even loaded. */
export async function startTelemetry(options: Options) {
  const { settings, environment, program, log } = options;
  const ignored = Object.entries(environment)
    .filter(([name, value]) => withoutEffect.test(name) && value && value !== 'none')
    .map(([name]) => name);
  if (ignored.length > 0) log.warn(`these settings are ignored: ${ignored.join(', ')}`);
  if (!settings.traces) return { stop: async () => {} };
  Object.assign(environment, settings.fromFiles);
  const { startNodeSdk } = await import('@opentelemetry/sdk-node');
  // OTEL_RESOURCE_ATTRIBUTES can override these attributes.
  const attributes = {
    'service.name': program.name,
    'service.version': program.version,
    'service.instance.id': randomUUID(),
  };
  const name = environment['OTEL_SERVICE_NAME'];
  const sdk = startNodeSdk({
    logLevel: 'error',
    // One of the default detectors exports the command line.
    resourceDetectors: [{ detect: () => ({ attributes }) }],
    resourceAttributes: name ? { 'service.name': name } : {},
    logRecordProcessors: [],
    metricReaders: [],
  });
  const level = (environment['OTEL_LOG_LEVEL'] ?? '').toUpperCase();
  const logLevel = DiagLogLevel[level as keyof typeof DiagLogLevel] ?? DiagLogLevel.WARN;
  diag.setLogger(logAtMostEvery(logEveryMs, log), { logLevel, suppressOverrideMessage: true });
  traceWith(tracerOf(program));

  return {
    async stop() {
      traceWith(undefined);
      await withinMs(sdk.shutdown().catch(diag.error), shutdownMs, () => {});
    },
  };
}

const withoutEffect = /^OTEL_(METRICS_EXPORTER$|EXPORTER_OTLP_METRICS_|NODE_RESOURCE_DETECTORS$)/;

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
