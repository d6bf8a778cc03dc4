import { hostname } from 'node:os';
import program from '../package.json' with { type: 'json' };
import { readSteps } from './lib/db/migrate-step-files.ts';
import { hasOpenSteps } from './lib/db/migrate-step-state.ts';
import type { Log } from './lib/log/log.ts';
import { type StepWorker, startStepWorker } from './lib/steps/step-worker.ts';
import type { SessionAddress } from './open-sessions.ts';

/**
 * What migrations leave to be done over filled tables: the service does it, or `askback migrate --steps`. Without any
 * it makes no connection.
 */
export async function startSteps({ sessions, log }: StepTools): Promise<StepWorker> {
  if (!(await hasOpenSteps(sessions.db))) return { ended: Promise.resolve(), stop: async () => {} };
  return startStepWorker({
    address: sessions,
    log,
    steps: readSteps(),
    program: 'askback',
    worker: `askback ${program.version}, ${hostname()}, process ${process.pid}`,
  });
}

type StepTools = { sessions: SessionAddress; log: Log };
