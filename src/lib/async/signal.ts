/** An event inside the process, for code that counts it or writes it down. It may have no subscriber. */
export type Signal<Facts> = {
  publish: (facts: Facts) => void;
  /** Calls `listener` at each event until the function it returns is called. */
  subscribe: (listener: (facts: Facts) => void) => () => void;
};

/** A signal that never leaves this process. A listener that fails does no harm to the publisher. */
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
