import { type Attributes, type Span, SpanKind } from '@opentelemetry/api';
import type { Context } from 'hono';
import {
  endSpan,
  errorType,
  isTracing,
  link,
  readTraceparent,
  startSpan,
  traceparentOfSpan,
} from '../tracing/spans.ts';
import { isUuid } from '../validation/parse.ts';
import { type Layer, routeOf } from './http.ts';

const probes = new Set(['/healthz', '/readyz', '/metrics']);
const isApi = (path: string) => path.startsWith('/api/');

/**
 * Creates a span for each request. The span of an API request starts after authentication, because it may continue the
 * trace of an authenticated caller. All other requests start a new trace and ignore trace headers.
 */
export const traceRequests =
  (tenantAttribute: string): Layer =>
  async (c, next) => {
    if (!isTracing() || probes.has(c.req.path)) return await next();
    c.set('startedAt', performance.now());
    if (!isApi(c.req.path)) begin(c, null);
    await next();
    const span = c.get('span') ?? begin(c, null);
    const tenant = c.get('tenant');
    const { status } = c.res;
    const attributes: Attributes = { 'http.response.status_code': status };
    if (tenant !== undefined) attributes[tenantAttribute] = tenant;
    const failed = status >= 500;
    if (failed) attributes[errorType] = String(status);
    endSpan(span, { attributes, failed }, performance.now());
  };

/** Continues the trace of an authenticated caller. Without tracing, its trace context is passed on. */
export function acceptTrace(c: Context) {
  const traceparent = readTraceparent(c.req.header('traceparent'));
  if (isTracing()) begin(c, traceparent);
  else if (traceparent) c.set('traceparent', traceparent);
}

/** Links the request to another trace, such as the trace of the email whose link was opened. */
export function linkTrace(c: Context, traceparent: string | null) {
  const span: Span | undefined = c.get('span');
  if (span && traceparent) link(span, traceparent);
}

const methods = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** Follows the OpenTelemetry semantic conventions for HTTP, without query and client address. */
function begin(c: Context, traceparent: string | null): Span {
  const isKnown = methods.has(c.req.method);
  const name = isKnown ? c.req.method : 'HTTP';
  const route = routeOf(c);
  const attributes: Attributes = {
    'http.request.method': isKnown ? c.req.method : '_OTHER',
    'url.scheme': 'http',
    'url.path': shownPath(route, c.req.path),
  };
  if (route !== 'none') attributes['http.route'] = route;
  const description = {
    name: route === 'none' ? name : `${name} ${route}`,
    kind: SpanKind.SERVER,
    attributes,
  };
  const span = startSpan(description, { traceparent, agoMs: 0 }, c.get('startedAt'));
  c.set('span', span);
  c.set('traceparent', traceparentOfSpan(span));
  return span;
}

/** The route with the ids of an API path. Parameters of pages may be secret tokens. */
function shownPath(route: string, path: string): string {
  if (route === 'none') return '/*';
  if (!route.includes(':') || !isApi(path)) return route;
  const actual = path.split('/');
  return route
    .split('/')
    .map((part, at) => (part.startsWith(':') && isUuid(actual[at] ?? '') ? actual[at] : part))
    .join('/');
}
