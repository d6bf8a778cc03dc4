import type { TestContext } from 'node:test';
import {
  type Attributes,
  type Context,
  type Link,
  type SpanOptions,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { traceWith } from '../../../src/lib/tracing/spans.ts';

type RecordedSpan = {
  name: string;
  /** Trace id of the parent span, undefined for a root span. */
  parentTrace: string | undefined;
  linkedTraces: string[];
  attributes: Attributes;
  failed: boolean;
};

/** Records the spans of the test's own process. */
export function recordSpans(t: TestContext): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  traceWith({ startSpan: start } as unknown as Tracer);
  t.after(() => traceWith(undefined));

  function start(name: string, { attributes = {}, links = [] }: SpanOptions, context: Context) {
    const span: RecordedSpan = {
      name,
      attributes: { ...attributes },
      failed: false,
      parentTrace: trace.getSpanContext(context)?.traceId,
      linkedTraces: links.map((link: Link) => link.context.traceId),
    };
    spans.push(span);
    return {
      spanContext: () => ({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }),
      setAttributes: (more: Attributes) => Object.assign(span.attributes, more),
      setStatus: () => Object.assign(span, { failed: true }),
      addLink: (link: Link) => span.linkedTraces.push(link.context.traceId),
      end() {},
    };
  }
  return spans;
}
