import { createLog } from '../../../src/lib/log/log.ts';
import { holdLease } from '../../../src/lib/queue/lease.ts';
import { startJobs } from '../../../src/lib/queue/runner.ts';

/** A process whose jobs never end. It reports each start and dies with its parent. */
const url = process.argv[2]!;
process.once('disconnect', () => process.exit());

const log = createLog({ level: 'warn' });
await startJobs({
  concurrency: 100,
  lease: await holdLease({ url }, log, 'askback'),
  url,
  log,
  tasks: {
    'webhooks.deliver': (payload) => {
      process.send!((payload as { webhook_id: string }).webhook_id);
      return new Promise(() => {});
    },
  },
});
process.send!('ready');
