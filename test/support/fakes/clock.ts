import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../../src/lib/async/clock.ts';

/** A clock that moves only when it is moved. */
export function handClock() {
  let now = 1_000;
  const timers = new Set<{ at: number; call: () => void }>();
  const clock: Clock = {
    now: () => now,
    after(ms, call) {
      const timer = { at: now + ms, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  /** Goes from timer to timer until none is left. */
  async function runAll() {
    for (;;) {
      await nextTurn();
      const [timer] = [...timers].sort((a, b) => a.at - b.at);
      if (!timer) return;
      now = Math.max(now, timer.at);
      timers.delete(timer);
      timer.call();
    }
  }
  return { clock, runAll, pending: () => timers.size };
}
