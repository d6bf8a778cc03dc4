/**
 * Resolves with the promise, or with the result of `onLate` after the timeout. The work behind the promise is not
 * stopped, and its later failure is ignored.
 *
 *     const answer = await withinMs(ask(), 1_000, () => undefined);
 */
export async function withinMs<T, Late>(
  promise: Promise<T>,
  ms: number,
  onLate: () => Late,
): Promise<T | Late> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    return await Promise.race([promise, late.promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}

/** An event inside the process, for metrics and logs. */
export type Signal<Facts> = {
  publish: (facts: Facts) => void;
  subscribe: (listener: (facts: Facts) => void) => () => void;
};

/** A failing listener does not affect the publisher. */
export function signal<Facts>(): Signal<Facts> {
  const listeners = new Set<(facts: Facts) => void>();
  return {
    publish(facts) {
      for (const listener of listeners) {
        try {
          listener(facts);
        } catch (error) {
          process.emitWarning(error as Error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
