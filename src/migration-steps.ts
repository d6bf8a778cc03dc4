import { hostname } from 'node:os';
import program from '../package.json' with { type: 'json' };
import { readSteps } from './lib/db/migrate-step-files.ts';
import type { Log } from './lib/log/log.ts';
import { startStepWorker } from './lib/steps/step-worker.ts';
import type { SessionAddress } from './open-sessions.ts';

/** What migrations leave to be done over filled tables: the service does it, or `askback migrate --steps`. */
export const startSteps = ({ sessions, log }: { sessions: SessionAddress; log: Log }) =>
  startStepWorker({
    ...{ address: sessions, log, steps: readSteps(), program: 'askback' },
    worker: `askback ${program.version}, ${hostname()}, process ${process.pid}`,
  });
