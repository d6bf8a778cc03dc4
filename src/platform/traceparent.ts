/** The id of the trace that a `traceparent` (version-trace-span-flags) belongs to. */
export const traceIdOf = (traceparent: string | null): string | null =>
  traceparent === null ? null : traceparent.slice(3, 35);
