// Tracing: spans by OpenTelemetry, which cost nothing while nothing is exported.

import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { spanContextOf, traceparentOf } from './traceparent.ts';

/** The attribute that OpenTelemetry names the kind of a failure by. */
export const errorType = 'error.type';

/** Work that begins later than this after its cause links to the trace of the cause instead of being part of it. */
const longestTraceMs = 3_600_000;

/** What a span continues, and how long ago that was. */
export type Cause = { traceparent: string | null; agoMs: number };

export type SpanDescription = { name: string; kind: SpanKind; attributes: Attributes };
/** What is known at the end. With `failed` the span counts as one that went wrong. */
export type SpanEnd = { attributes: Attributes; failed: boolean };

/** The span that work is done in. */
export type OwnSpan = {
  /** Names the span, for the work that this work causes. */
  traceparent: string | null;
  /** Describes the end of the span. */
  ended: (describe: () => SpanEnd) => void;
  /** Points to what the work has to do with, in a trace of its own. */
  link: (traceparent: string) => void;
};

let tracer: Tracer | undefined;

/** Sets the tracer that makes spans. Without one none are made, and they cost nothing. */
export function traceWith(newTracer: Tracer | undefined) {
  tracer = newTracer;
}

export const isTracing = () => tracer !== undefined;

/**
 * Does work in a span of its own. Without a tracer the work gets the `traceparent` of its cause: a caller's
 * trace is passed on as it is.
 */
export async function inSpan<Result>(
  cause: Cause,
  describe: () => SpanDescription,
  work: (own: OwnSpan) => Promise<Result>,
): Promise<Result> {
  if (!tracer) return await work({ traceparent: cause.traceparent, ended: ignore, link: ignore });
  const span = startSpan(describe(), cause);
  let end: SpanEnd = { attributes: {}, failed: false };
  const ended = (describeEnd: () => SpanEnd) => {
    end = describeEnd();
  };
  try {
    return await work({
      traceparent: nameOf(span),
      ended,
      link: (other) => void link(span, other),
    });
  } catch (error) {
    end = { attributes: { [errorType]: kindOf(error) }, failed: true };
    throw error;
  } finally {
    endSpan(span, end);
  }
}

const ignore = () => {};

/** Only while tracing. `began` is a reading of `performance.now()`, for a span that began before. */
export function startSpan(
  { name, kind, attributes }: SpanDescription,
  cause: Cause,
  began?: number,
): Span {
  const late = cause.agoMs > longestTraceMs;
  const context = cause.traceparent === null ? null : spanContextOf(cause.traceparent);
  const links: Link[] = late && context ? [{ context }] : [];
  const parent = late || !context ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
  const startTime = began === undefined ? {} : { startTime: began };
  return tracer!.startSpan(name, { kind, attributes, links, ...startTime }, parent);
}

export function endSpan(span: Span, end: SpanEnd, at?: number) {
  span.setAttributes(end.attributes);
  if (end.failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}

export const nameOf = (span: Span): string => traceparentOf(span.spanContext());

/** Links a span to another trace. */
export const link = (span: Span, traceparent: string) =>
  span.addLink({ context: spanContextOf(traceparent) });

/** The kind of an error. Its message may quote what a person wrote. */
function kindOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'error');
}
