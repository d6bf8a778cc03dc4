import { type EndedRequest, requestEnded } from '../../lib/http/http.ts';

const maxErrors = 20;
const windowMs = 10 * 60_000;
const windowsPerHour = 6;
/** Bounds the memory of one window. */
const maxOrganizations = 1000;
const probes = new Set(['/healthz', '/readyz', '/metrics']);

export type FailedRequest = Pick<EndedRequest, 'method' | 'route' | 'status' | 'requestId'> & {
  at: Date;
};

export type OrganizationLoad = { orgId: string; requests: number; ms: number; slowestMs: number };

export type RecentRequests = ReturnType<typeof watchRequests>;

/** Remembers the newest failed requests of this process, and the time that each organization took in the last hour. */
export function watchRequests(now: () => number = Date.now) {
  const errors: FailedRequest[] = [];
  let windows: { number: number; loads: Loads }[] = [];

  /** The windows of the last hour, the current one first. */
  function recentWindows() {
    const number = Math.floor(now() / windowMs);
    windows = windows.filter((window) => number - window.number < windowsPerHour);
    if (windows[0]?.number !== number) windows.unshift({ number, loads: new Map() });
    return windows;
  }

  const stop = requestEnded.subscribe(({ method, route, status, requestId, tenant, ms }) => {
    if (probes.has(route)) return;
    if (status >= 500) {
      errors.unshift({ at: new Date(now()), method, route, status, requestId });
      errors.splice(maxErrors);
    }
    if (tenant) add(recentWindows()[0]!.loads, { orgId: tenant, requests: 1, ms, slowestMs: ms });
  });

  return {
    stop,
    /** Newest first. */
    errors: (): readonly FailedRequest[] => errors,
    /** The organizations whose requests took the most time. */
    busiest(max: number): OrganizationLoad[] {
      const sums: Loads = new Map();
      for (const { loads } of recentWindows()) for (const load of loads.values()) add(sums, load);
      return [...sums.values()].toSorted((one, other) => other.ms - one.ms).slice(0, max);
    },
  };
}

type Loads = Map<string, OrganizationLoad>;

function add(loads: Loads, { orgId, requests, ms, slowestMs }: OrganizationLoad) {
  const sum = loads.get(orgId);
  if (!sum && loads.size >= maxOrganizations) return;
  loads.set(orgId, {
    orgId,
    requests: requests + (sum?.requests ?? 0),
    ms: ms + (sum?.ms ?? 0),
    slowestMs: Math.max(slowestMs, sum?.slowestMs ?? 0),
  });
}
