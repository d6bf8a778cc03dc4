type Host = { running: number; waiting: Set<() => void> };

/**
 * At most so many at once per host; the rest wait in the order they came. `enter` starts now or
 * later and returns how to leave, also from the line.
 */
export function createSlots(perHost: number) {
  const hosts = new Map<string, Host>();

  return {
    enter(name: string, start: () => void): () => void {
      const host = hosts.get(name) ?? { running: 0, waiting: new Set() };
      hosts.set(name, host);
      if (host.running < perHost) {
        host.running += 1;
        start();
      } else {
        host.waiting.add(start);
      }
      return once(() => {
        if (!host.waiting.delete(start)) leave(host);
        if (host.running === 0) hosts.delete(name);
      });
    },
  };
}

/** The place of who leaves goes to the first in line. */
function leave(host: Host) {
  const [next] = host.waiting;
  if (next === undefined) {
    host.running -= 1;
    return;
  }
  host.waiting.delete(next);
  next();
}

function once(work: () => void) {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
