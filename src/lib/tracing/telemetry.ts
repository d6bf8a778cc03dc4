import { type DiagLogger, DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { Refusal } from '../../errors.ts';
import type { Log } from '../log/log.ts';
import { resourceOf } from './resource.ts';
import { traceWith } from './spans.ts';

/** A collector that does not answer is waited for no longer than this at the end. */
const shutdownMs = 2000;
const complainEveryMs = 300_000;

type Settings = {
  traces: boolean;
  metrics: boolean;
  fromFiles: Readonly<Record<string, string>>;
};

type Options = {
  settings: Settings;
  /** Where the SDK, too, finds its settings. */
  environment: Record<string, string | undefined>;
  program: { name: string; version: string };
  log: Log;
};

export type Telemetry = { shutdown: () => Promise<void> };

/**
 * Exports spans, and what meters of `@opentelemetry/api` measure, as the `OTEL_*` settings say. Without
 * any that asks for it the SDK is not even loaded. No request waits for a collector.
 */
export async function startTelemetry(options: Options): Promise<Telemetry> {
  const { settings, environment, program, log } = options;
  if (!settings.traces && !settings.metrics) return { shutdown: async () => {} };
  Object.assign(environment, settings.fromFiles);
  const { startNodeSdk } = await import('@opentelemetry/sdk-node');
  const { attributes, named } = resourceOf(environment, program);
  const sdk = startNodeSdk({
    logLevel: 'error',
    // Named, because one of the usual ones tells the command line.
    resourceDetectors: [{ detect: () => ({ attributes }) }],
    resourceAttributes: named,
    logRecordProcessors: [],
    ...(settings.traces ? {} : { spanProcessors: [] }),
    ...(settings.metrics ? {} : { metricReaders: [] }),
  });
  const logLevel = levelOf(environment['OTEL_LOG_LEVEL']);
  diag.setLogger(cachedFor(log), { logLevel, suppressOverrideMessage: true });
  if (settings.traces) traceWith(tracerOf(program));

  return {
    async shutdown() {
      traceWith(undefined);
      await within(shutdownMs, sdk.shutdown().catch(diag.error));
    },
  };
}

/** The SDK has said on standard error why it could not start; then there is no use in going on. */
function tracerOf({ name, version }: Options['program']) {
  const tracer = trace.getTracer(name, version);
  const { traceId } = tracer.startSpan('start').spanContext();
  if (/^0*$/.test(traceId)) throw new Refusal('invalid', 'the OTEL_ settings cannot be used');
  return tracer;
}

/** As long as an export fails every batch says so: it is written down, but cachedFor. */
function cachedFor(log: Log): DiagLogger {
  let saidAt = Number.NEGATIVE_INFINITY;
  const complain = (...said: unknown[]) => {
    const now = performance.now();
    if (now - saidAt < complainEveryMs) return;
    saidAt = now;
    log.warn({ why: sentenceOf(said) }, 'telemetry is not exported as it should be');
  };
  const mention = (...said: unknown[]) => log.debug({ why: sentenceOf(said) }, 'telemetry');
  return { error: complain, warn: complain, info: mention, debug: mention, verbose: mention };
}

/**
 * Whose words they are comes first, then the words, then data, which is left out. Errors come as JSON with
 * a stack; their message is enough.
 */
function sentenceOf(all: readonly unknown[]): string {
  const message = all.filter((part) => typeof part === 'string').join(': ');
  const said = /"message":"((?:[^"\\]|\\.)*)"/.exec(message)?.[1];
  const code = /"code":"(\w+)"/.exec(message)?.[1];
  return (said || code || message).slice(0, 200);
}

function levelOf(name = 'warn'): DiagLogLevel {
  return DiagLogLevel[name.toUpperCase() as keyof typeof DiagLogLevel] ?? DiagLogLevel.WARN;
}

async function within(ms: number, work: Promise<unknown>) {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, late]);
  clearTimeout(timer);
}
