import { connect } from '../../../src/lib/db/db.ts';
import { createLog } from '../../../src/lib/log/log.ts';
import { startJobs } from '../../../src/lib/queue/start.ts';
import { oneGroup } from '../probe/jobs.ts';

/** A process whose deliveries never end. It says what it starts, and dies with its parent. */
const url = process.argv[2]!;
process.once('disconnect', () => process.exit());

await startJobs({
  groups: oneGroup,
  program: 'askback',
  url,
  db: connect(url, { connections: 2 }),
  log: createLog({ level: 'warn' }),
  tasks: {
    'webhooks.deliver': (payload) => {
      process.send!((payload as { webhook_id: string }).webhook_id);
      return new Promise(() => {});
    },
  },
});
process.send!('ready');
