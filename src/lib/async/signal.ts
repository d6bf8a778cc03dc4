/** Something that happens, told to whoever counts it or writes it down. Nobody need listen. */
export type Signal<Facts> = {
  publish: (facts: Facts) => void;
  /** Calls `listener` at each; the function it gives back ends that. */
  subscribe: (listener: (facts: Facts) => void) => () => void;
};

/** What is told goes no further than this process. A listener that fails harms nothing that it is told of. */
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
