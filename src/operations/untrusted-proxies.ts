import type { Check } from '../lib/process/checks.ts';

const advice = 'name it in ASKBACK_TRUSTED_PROXIES, or all its clients share one limit';

/** Notices the first proxy that forwards clients' addresses and is not trusted. */
export function watchProxies(say: (sentence: string) => void): {
  saw: (peer: string) => void;
  check: Check;
} {
  let first: string | undefined;
  return {
    saw(peer) {
      if (first !== undefined) return;
      first = peer;
      say(`requests come through a proxy at ${peer}, which is not trusted: ${advice}`);
    },
    check: () =>
      first === undefined
        ? undefined
        : `requests come through a proxy that is not trusted: ${advice}`,
  };
}
