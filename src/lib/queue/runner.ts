import { setTimeout as sleep } from 'node:timers/promises';
import { type RunnerInstance, type RunnerWork, startInstance } from './runner-instance.ts';

const shortestPauseMs = 50;
const longestPauseMs = 1000;
/** A runner that ran for so long was healthy: the next one starts without a pause. */
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
  /** Frees the jobs of processes that died, if it runs. */
  sweep: () => boolean;
  stop: (deadline: Promise<unknown>) => Promise<void>;
};

/** Keeps a runner running until it is stopped: after an unexpected end it starts the next instance. */
export function superviseRunner(name: string, work: RunnerWork): SupervisedRunner {
  const { log } = work;
  const stopping = Promise.withResolvers<{ deadline: Promise<unknown> }>();
  const connected = Promise.withResolvers<void>();
  const tried = Promise.withResolvers<void>();
  let current: RunnerInstance | undefined;
  let stopped = false;
  let failing = false;
  let restarts = 0;
  let pauseMs = shortestPauseMs;

  async function oneRun() {
    const instance = await startInstance(work, connected.resolve);
    const began = performance.now();
    current = instance;
    if (failing) log.info({ runner: name }, 'a job runner runs again');
    failing = false;
    tried.resolve();
    const order = await Promise.race([instance.ended, stopping.promise]);
    current = undefined;
    if (order) return await instance.drain(order.deadline);

    restarts += 1;
    log.warn({ runner: name, restarts }, 'a job runner ended unexpectedly, starting it again');
    void instance.drain();
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
    sweep() {
      current?.sweep();
      return current !== undefined;
    },
    async stop(deadline) {
      stopped = true;
      stopping.resolve({ deadline });
      await supervision;
    },
  };
}
