import type { SpanContext } from '@opentelemetry/api';

/**
 * A `traceparent` (W3C Trace Context: version-trace-span-flags) names a span. As such text a span's name
 * is kept with rows and jobs, and sent to subscribers.
 */
const form =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const isSampled = 1;

/** What a caller's header says, in the form of version 00; nothing if it is not exactly what W3C writes. */
export function readTraceparent(header: string | undefined): string | null {
  const [, version, trace, span, flags, more] = (header && form.exec(header)) || [];
  if (!flags || (version === '00' && more !== undefined)) return null;
  return `00-${trace}-${span}-${Number.parseInt(flags, 16) & isSampled ? '01' : '00'}`;
}

/** The id of the trace that a `traceparent` (version-trace-span-flags) belongs to. */
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
