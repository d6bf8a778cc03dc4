import type { Span } from '@opentelemetry/api';
import type { Context, MiddlewareHandler } from 'hono';
import { requestEnd, requestSpan } from '../tracing/conventions.ts';
import { endSpan, isTracing, link, nameOf, startSpan } from '../tracing/spans.ts';
import { readTraceparent } from '../tracing/traceparent.ts';
import { isUuid } from '../validation/parse.ts';
import { type RequestEnv, routeOf } from './http.ts';

/** Asked every few seconds, and nobody's work. */
const probes = new Set(['/healthz', '/readyz', '/metrics']);
const isApi = (path: string) => path.startsWith('/api/');

/**
 * A span for each request. Of the API it waits until the caller is known, who may have a trace that it
 * belongs to; anybody else's begins a trace of its own, whatever they send.
 */
export const traceRequests: MiddlewareHandler<RequestEnv> = async (c, next) => {
  if (!isTracing() || probes.has(c.req.path)) return await next();
  c.set('began', performance.now());
  if (!isApi(c.req.path)) begin(c, null);
  await next();
  const span = c.get('span') ?? begin(c, null);
  const end = requestEnd({ status: c.res.status, orgId: c.get('orgId') ?? null });
  endSpan(span, end, performance.now());
};

/** The trace of a caller whose key was accepted goes on here; without a tracer it passes through. */
export function acceptTrace(c: Context) {
  const given = readTraceparent(c.req.header('traceparent'));
  if (isTracing()) begin(c, given);
  else if (given) c.set('traceparent', given);
}

/** What a request has to do with, when that has a trace of its own: the mail that led to a page. */
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

/** The route, and of the API's the ids in it. What is no id may be anything, and a page's is a token. */
function shownPath(route: string, path: string): string {
  if (route === 'none') return '/*';
  if (!route.includes(':') || !isApi(path)) return route;
  const given = path.split('/');
  return route
    .split('/')
    .map((part, at) => (part.startsWith(':') && isUuid(given[at] ?? '') ? given[at] : part))
    .join('/');
}
