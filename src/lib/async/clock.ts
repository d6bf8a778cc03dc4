/** The time, and calls at a later one: the real ones, or those of a test. */
export type Clock = {
  now: () => number;
  /** Calls back after that many milliseconds, unless the function it returns is called before. */
  after: (ms: number, call: () => void) => () => void;
};

export const realClock: Clock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
