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
import { errorType } from './conventions.ts';
import { spanContextOf, traceparentOf } from './traceparent.ts';

/** Work that begins later than this after its cause is no part of the cause's trace: it links to it. */
const longestTraceMs = 3_600_000;

/** What a span continues, and how long ago that was. */
export type Cause = { traceparent: string | null; agoMs: number };

export type Description = { name: string; kind: SpanKind; attributes: Attributes };
/** What is known at the end. With `failed` the span counts as one that went wrong. */
export type End = { attributes: Attributes; failed: boolean };

/** The span that work is done in. */
export type Own = {
  /** Its name, for what the work causes in turn. */
  traceparent: string | null;
  /** Says what is known at the end. */
  ended: (describe: () => End) => void;
  /** Points to what the work has to do with, in a trace of its own. */
  link: (traceparent: string) => void;
};

let tracer: Tracer | undefined;

/** From now on spans are made by this tracer; without one none are made, and nothing is paid for them. */
export function traceWith(given: Tracer | undefined) {
  tracer = given;
}

export const isTracing = () => tracer !== undefined;

/**
 * Does work in a span of its own. While nothing is traced, the work has the name of its cause: a caller's
 * trace passes through us whole.
 */
export async function inSpan<Result>(
  cause: Cause,
  describe: () => Description,
  work: (own: Own) => Promise<Result>,
): Promise<Result> {
  if (!tracer) return await work({ traceparent: cause.traceparent, ended: unheard, link: unheard });
  const span = startSpan(describe(), cause);
  let end: End = { attributes: {}, failed: false };
  const ended = (describeEnd: () => End) => {
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

const unheard = () => {};

/** Only while tracing. `began` is a reading of `performance.now()`, for a span that began before. */
export function startSpan(
  { name, kind, attributes }: Description,
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

export function endSpan(span: Span, end: End, at?: number) {
  span.setAttributes(end.attributes);
  if (end.failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}

export const nameOf = (span: Span): string => traceparentOf(span.spanContext());

/** Something else that a span has to do with, in a trace of its own. */
export const link = (span: Span, traceparent: string) =>
  span.addLink({ context: spanContextOf(traceparent) });

/** The kind of an error; what it says may quote what somebody wrote. */
function kindOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'error');
}
