import { randomUUID } from 'node:crypto';
import { arch, hostname, platform, release } from 'node:os';
import { type Attributes, type DiagLogger, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { Refusal } from '../../errors.ts';
import { withinMs } from '../async/deadline.ts';
import type { Log } from '../log/log.ts';
import { traceWith } from './spans.ts';

const shutdownMs = 2000;
const complainEveryMs = 300_000;

type Options = {
  settings: { traces: boolean; metrics: boolean; fromFiles: Readonly<Record<string, string>> };
  /** The SDK reads its settings from here as well. */
  environment: Record<string, string | undefined>;
  program: { name: string; version: string };
  log: Log;
};

/**
 * Exports spans, and what meters of `@opentelemetry/api` measure, as the `OTEL_*` settings say. Without
 * any that asks for it the SDK is not even loaded. No request waits for a collector.
 */
export async function startTelemetry(options: Options) {
  const { settings, environment, program, log } = options;
  if (!settings.traces && !settings.metrics) return { shutdown: async () => {} };
  Object.assign(environment, settings.fromFiles);
  const { startNodeSdk } = await import('@opentelemetry/sdk-node');
  const { attributes, named } = resourceOf(environment, program);
  const sdk = startNodeSdk({
    logLevel: 'error',
    // Given, because one of the default detectors exports the command line.
    resourceDetectors: [{ detect: () => ({ attributes }) }],
    resourceAttributes: named,
    logRecordProcessors: [],
    ...(settings.traces ? {} : { spanProcessors: [] }),
    ...(settings.metrics ? {} : { metricReaders: [] }),
  });
  const level = (environment['OTEL_LOG_LEVEL'] ?? '').toUpperCase();
  const logLevel = DiagLogLevel[level as keyof typeof DiagLogLevel] ?? DiagLogLevel.WARN;
  diag.setLogger(logAtMostEvery(complainEveryMs, log), { logLevel, suppressOverrideMessage: true });
  if (settings.traces) traceWith(tracerOf(program));

  return {
    async shutdown() {
      traceWith(undefined);
      await withinMs(sdk.shutdown().catch(diag.error), shutdownMs, () => {});
    },
  };
}

/**
 * Describes this process: `attributes`, which OTEL_RESOURCE_ATTRIBUTES may override, and `named`, which it may not.
 * Never holds the command line or an owner.
 */
function resourceOf(environment: Options['environment'], program: Options['program']) {
  const asked = environment['OTEL_NODE_RESOURCE_DETECTORS'] || 'service';
  const detectors = asked.split(',').map((name) => name.trim());
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

/** When the SDK could not start it has written the reason to standard error, and the service stops too. */
function tracerOf({ name, version }: Options['program']) {
  const tracer = trace.getTracer(name, version);
  const { traceId } = tracer.startSpan('start').spanContext();
  if (/^0*$/.test(traceId)) throw new Refusal('invalid', 'the OTEL_ settings cannot be used');
  return tracer;
}

/** While exports fail every batch complains; one complaint in that time is logged. */
function logAtMostEvery(ms: number, log: Log): DiagLogger {
  let complainedAt = Number.NEGATIVE_INFINITY;
  const complain = (...message: unknown[]) => {
    const now = performance.now();
    if (now - complainedAt < ms) return;
    complainedAt = now;
    log.warn({ why: sentenceOf(message) }, 'telemetry is not exported as it should be');
  };
  const mention = (...message: unknown[]) => log.debug({ why: sentenceOf(message) }, 'telemetry');
  return { error: complain, warn: complain, info: mention, debug: mention, verbose: mention };
}

/**
 * The SDK logs its component, then a message, then data, which is left out. Errors come as JSON with a
 * stack; their message is enough.
 */
function sentenceOf(all: readonly unknown[]): string {
  const message = all.filter((part) => typeof part === 'string').join(': ');
  const said = /"message":"((?:[^"\\]|\\.)*)"/.exec(message)?.[1];
  const code = /"code":"(\w+)"/.exec(message)?.[1];
  return (said || code || message).slice(0, 200);
}
