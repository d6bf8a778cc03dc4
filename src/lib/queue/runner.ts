import { setTimeout as sleep } from 'node:timers/promises';
import { type Generation, startGeneration, type Work } from './runner-instance.ts';

const shortestPauseMs = 50;
const longestPauseMs = 1000;
/** A runner that lived for so long was healthy: the next one need not wait. */
const healthyAfterMs = 5000;

export type RunnerState = {
  state: 'running' | 'restarting' | 'stopped';
  /** How often it had to be started again. */
  restarts: number;
};

export type SupervisedRunner = {
  /** Resolves once it is connected to the queue's schema, or its first attempt to start failed. */
  connected: Promise<void>;
  /** Resolves with the first attempt to start, whichever way it went. */
  tried: Promise<void>;
  state: () => RunnerState;
  nudge: () => void;
  stop: (deadline: Promise<unknown>) => Promise<void>;
};

/** Keeps a runner running until it is stopped: every unexpected end is a new beginning. */
export function superviseRunner(name: string, work: Work): SupervisedRunner {
  const { log } = work;
  const stopping = Promise.withResolvers<{ deadline: Promise<unknown> }>();
  const connected = Promise.withResolvers<void>();
  const tried = Promise.withResolvers<void>();
  let current: Generation | undefined;
  let stopped = false;
  let failing = false;
  let restarts = 0;
  let pauseMs = shortestPauseMs;

  async function oneRun() {
    const generation = await startGeneration(work, connected.resolve);
    const began = performance.now();
    current = generation;
    failing = false;
    tried.resolve();
    const order = await Promise.race([generation.ended, stopping.promise]);
    current = undefined;
    if (order) return await generation.drain(order.deadline);

    restarts += 1;
    log.warn({ runner: name, restarts }, 'a job runner ended unexpectedly, starting it again');
    void generation.drain();
    if (performance.now() - began > healthyAfterMs) pauseMs = shortestPauseMs;
  }

  async function supervise() {
    while (!stopped) {
      await oneRun().catch((error) => {
        log[failing ? 'debug' : 'warn']({ runner: name, err: error }, 'a job runner cannot start');
        failing = true;
      });
      connected.resolve();
      tried.resolve();
      if (stopped) break;
      await Promise.race([sleep(pauseMs), stopping.promise]);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  const supervision = supervise();
  return {
    connected: connected.promise,
    tried: tried.promise,
    state: () => ({
      state: stopped ? 'stopped' : current ? 'running' : 'restarting',
      restarts,
    }),
    nudge: () => current?.nudge(),
    async stop(deadline) {
      stopped = true;
      stopping.resolve({ deadline });
      await supervision;
    },
  };
}
