import type { CronItem } from 'graphile-worker';
import * as v from 'valibot';
import { expire } from './keys/expire.ts';
import type { Db } from './platform/db.ts';
import { type Task, task } from './platform/jobs/task.ts';
import type { Jobs } from './platform/outbox.ts';

/** Everything a job may need. A task hands on only the part of it that its room uses. */
export type TaskTools = { db: Db };

/** The table of contents of the background work: a task checks its payload and calls its room. */
export const tasks = (tools: TaskTools): Partial<Record<keyof Jobs, Task>> => ({
  'keys.expire': task(v.object({}), () => expire(tools)),
});

/** What happens by the clock (UTC), once for all processes. */
export const crontab: CronItem[] = [
  { task: 'keys.expire', match: '*/5 * * * *', options: { maxAttempts: 5 } },
];
