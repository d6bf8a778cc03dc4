import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';

export const errorType = 'error.type';

/** Work that starts later than this after its cause gets its own trace, linked to the cause. */
const maxTraceMs = 3_600_000;

type Cause = { traceparent: string | null; agoMs: number };

export type SpanDescription = { name: string; kind: SpanKind; attributes: Attributes };
export type SpanEnd = { attributes: Attributes; failed: boolean };

type OwnSpan = {
  traceparent: string | null;
  ended: (describe: () => SpanEnd) => void;
  link: (traceparent: string) => void;
};

let tracer: Tracer | undefined;

export function traceWith(newTracer: Tracer | undefined) {
  tracer = newTracer;
}

export const isTracing = () => tracer !== undefined;

/** Runs work in its own span. Without a tracer, the work gets the `traceparent` of its cause. */
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
      traceparent: traceparentOfSpan(span),
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

/** Call only while tracing. `began` is an earlier `performance.now()`. */
export function startSpan(
  { name, kind, attributes }: SpanDescription,
  cause: Cause,
  began?: number,
): Span {
  const late = cause.agoMs > maxTraceMs;
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

export const traceparentOfSpan = (span: Span): string => traceparentOf(span.spanContext());

export const link = (span: Span, traceparent: string) =>
  span.addLink({ context: spanContextOf(traceparent) });

/** The code or name of an error, because its message may quote user text. */
function kindOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'error');
}

/** A `traceparent` (W3C Trace Context: version-trace-span-flags), as stored in rows and jobs and sent to webhooks. */
const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const isSampled = 1;

/** Converts a caller's header to version 00. Null if it is invalid. */
export function readTraceparent(header: string | undefined): string | null {
  const [, version, trace, span, flags, more] = (header && traceparentForm.exec(header)) || [];
  if (!flags || (version === '00' && more !== undefined)) return null;
  return `00-${trace}-${span}-${Number.parseInt(flags, 16) & isSampled ? '01' : '00'}`;
}

export const traceIdOf = (traceparent: string | null): string | null =>
  traceparent === null ? null : traceparent.slice(3, 35);

export const spanContextOf = (traceparent: string): SpanContext => ({
  traceId: traceparent.slice(3, 35),
  spanId: traceparent.slice(36, 52),
  traceFlags: traceparent.charCodeAt(54) & isSampled,
  isRemote: true,
});

export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags & isSampled ? '01' : '00'}`;
