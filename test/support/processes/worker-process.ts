import { createLog } from '../../../src/lib/log/log.ts';
import { startJobs } from '../../../src/lib/queue/runner.ts';

/** A process whose deliveries never end. It says what it starts, and dies with its parent. */
const url = process.argv[2]!;
process.once('disconnect', () => process.exit());

await startJobs({
  concurrency: 100,
  program: 'askback',
  url,
  log: createLog({ level: 'warn' }),
  tasks: {
    'webhooks.deliver': (payload) => {
      process.send!((payload as { webhook_id: string }).webhook_id);
      return new Promise(() => {});
    },
  },
});
process.send!('ready');
