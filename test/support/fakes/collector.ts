import { after } from 'node:test';
import { MockOtlpServer, normalizeTrace } from '@elastic/mockotlpserver';

/** A span as received by the collector. */
export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: string;
  attributes: Record<string, unknown>;
  links: string[];
  failed: boolean;
  startMs: number;
  ms: number;
  resource: Record<string, unknown>;
};

/** A real OTLP receiver over HTTP, one per test file. */
export async function startCollector() {
  const spans: Span[] = [];
  const requests: { path: string; headers: Record<string, unknown> }[] = [];
  const server = new MockOtlpServer({
    services: ['http'],
    httpHostname: '127.0.0.1',
    httpPort: 0,
    logLevel: 'error',
    onTrace: (request) => spans.push(...spansIn(normalizeTrace(request) as Exported)),
    onRequest: (request) => requests.push(request as (typeof requests)[number]),
  });
  await server.start();
  after(() => server.close());
  return {
    url: server.httpUrl.origin,
    spans,
    requests,
    of: (traceId: string | null) => spans.filter((span) => span.traceId === traceId),
  };
}

type Exported = {
  resourceSpans: {
    resource: { attributes: Record<string, unknown> };
    scopeSpans: { spans: ExportedSpan[] }[];
  }[];
};

type ExportedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: string;
  attributes?: Record<string, unknown>;
  links?: { traceId: string; spanId: string }[];
  status?: { code?: string };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
};

function spansIn({ resourceSpans }: Exported): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => readSpan(span, resource.attributes))),
  );
}

/** Ids are hex in JSON and base64 in protobuf. */
const hex = (id: string, bytes: number) =>
  id.length === bytes * 2 ? id : Buffer.from(id, 'base64').toString('hex');

function readSpan(span: ExportedSpan, resource: Span['resource']): Span {
  const [from, to] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
  return {
    traceId: hex(span.traceId, 16),
    spanId: hex(span.spanId, 8),
    parentSpanId: span.parentSpanId ? hex(span.parentSpanId, 8) : null,
    name: span.name,
    kind: span.kind.replace('SPAN_KIND_', ''),
    attributes: span.attributes ?? {},
    links: (span.links ?? []).map(({ traceId }) => hex(traceId, 16)),
    failed: span.status?.code === 'STATUS_CODE_ERROR',
    startMs: Number(from / 1000n) / 1000,
    ms: Number(to - from) / 1e6,
    resource,
  };
}
