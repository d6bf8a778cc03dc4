import { Logger } from 'graphile-worker';
import type { Log } from '../log/log.ts';
import { withoutValues } from '../log/log-error.ts';

/**
 * Graphile's errors are our warnings: what they lead to (a runner that starts again, a job that is
 * tried again) is reported by us. The rest, a line for every job, and its extras, which hold payloads,
 * stay out of the log.
 */
export const quietLogger = (log: Log) =>
  new Logger(() => (level, message, meta) => {
    const reportedByTask = meta['failure'] === true;
    if (level === 'error' && !reportedByTask) {
      log.warn({ from: 'graphile' }, withoutValues(message));
    }
    if (level === 'warning') log.debug({ from: 'graphile' }, withoutValues(message));
  });
