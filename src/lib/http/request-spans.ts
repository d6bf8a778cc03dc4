import { type Attributes, type Span, SpanKind } from '@opentelemetry/api';
import type { Context } from 'hono';
import {
  endSpan,
  errorType,
  isTracing,
  link,
  nameOf,
  readTraceparent,
  type SpanDescription,
  type SpanEnd,
  startSpan,
} from '../tracing/spans.ts';
import { isUuid } from '../validation/parse.ts';
import { type Layer, routeOf } from './http.ts';

const probes = new Set(['/healthz', '/readyz', '/metrics']);
const isApi = (path: string) => path.startsWith('/api/');

/**
 * A span for each request. The span of an API request begins when the caller is known, because it may
 * continue the caller's trace; every other request begins a trace of its own, whatever its headers say.
 * The tenant becomes an attribute of this name.
 */
export const traceRequests = (tenantAttribute: string): Layer => {
  const trace: Layer = async (c, next) => {
    c.set('began', performance.now());
    if (!isApi(c.req.path)) begin(c, null);
    await next();
    const span = c.get('span') ?? begin(c, null);
    const tenant = c.get('tenant');
    const caller = tenant === undefined ? {} : { [tenantAttribute]: tenant };
    endSpan(span, requestEnd(c.res.status, caller), performance.now());
  };
  return (c, next) => (isTracing() && !probes.has(c.req.path) ? trace(c, next) : next());
};

/** Continues the trace of a caller whose key was accepted; without a tracer it is passed on as it is. */
export function acceptTrace(c: Context) {
  const given = readTraceparent(c.req.header('traceparent'));
  if (isTracing()) begin(c, given);
  else if (given) c.set('traceparent', given);
}

/** Links the request to a trace that is not its own, such as that of the mail that led to a page. */
export function linkTrace(c: Context, traceparent: string | null) {
  const span: Span | undefined = c.get('span');
  if (span && traceparent) link(span, traceparent);
}

function begin(c: Context, traceparent: string | null): Span {
  const { method, path } = c.req;
  const route = routeOf(c);
  const request = { method, route: route === 'none' ? null : route, path: shownPath(route, path) };
  const span = startSpan(requestSpan(request), { traceparent, agoMs: 0 }, c.get('began'));
  c.set('span', span);
  c.set('traceparent', nameOf(span));
  return span;
}

/**
 * The route, with the ids of an API path filled in. Anything else in a path may be a secret: the parameter
 * of a page is a token.
 */
function shownPath(route: string, path: string): string {
  if (route === 'none') return '/*';
  if (!route.includes(':') || !isApi(path)) return route;
  const given = path.split('/');
  return route
    .split('/')
    .map((part, at) => (part.startsWith(':') && isUuid(given[at] ?? '') ? given[at] : part))
    .join('/');
}

const methods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

type TracedRequest = { method: string; route: string | null; path: string };

/** Named as OpenTelemetry's semantic conventions for HTTP want it; no query, no address of a client. */
function requestSpan({ method: given, route, path }: TracedRequest): SpanDescription {
  const method = methods.has(given) ? given : '_OTHER';
  const name = method === '_OTHER' ? 'HTTP' : method;
  return {
    name: route === null ? name : `${name} ${route}`,
    kind: SpanKind.SERVER,
    attributes: {
      'http.request.method': method,
      'url.scheme': 'http',
      'url.path': path,
      ...(route === null ? {} : { 'http.route': route }),
    },
  };
}

/** A refusal is an answer like others; only a fault is our failure. */
function requestEnd(status: number, caller: Attributes): SpanEnd {
  const failed = status >= 500;
  const attributes: Attributes = { 'http.response.status_code': status, ...caller };
  if (failed) attributes[errorType] = String(status);
  return { attributes, failed };
}
