import { type EndedRequest, requestEnded } from '../../lib/http/http.ts';

const maxErrors = 20;
const probes = new Set(['/healthz', '/readyz', '/metrics']);

export type FailedRequest = Pick<EndedRequest, 'method' | 'route' | 'status' | 'requestId'> & {
  at: Date;
};

export type RecentRequests = ReturnType<typeof watchRequests>;

/** Remembers the newest failed requests of this process. */
export function watchRequests() {
  const errors: FailedRequest[] = [];
  const stop = requestEnded.subscribe(({ method, route, status, requestId }) => {
    if (probes.has(route) || status < 500) return;
    errors.unshift({ at: new Date(), method, route, status, requestId });
    errors.splice(maxErrors);
  });
  /** Newest first. */
  return { stop, errors: (): readonly FailedRequest[] => errors };
}
