import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCronItems } from 'graphile-worker';
import { enqueue } from '../src/jobs.ts';
import { crontab, tasks } from '../src/tasks.ts';
import { taskTools } from './support/make/task-tools.ts';
import { testDatabase } from './support/probe/database.ts';
import { workOn } from './support/probe/jobs.ts';
import { until } from './support/probe/until.ts';

const { db, url } = await testDatabase();

test('every job that the clock starts is a task that exists', () => {
  const known = Object.keys(tasks(taskTools(db)));
  assert.deepEqual(
    crontab.filter(({ task }) => !known.includes(task)),
    [],
  );
  assert.equal(parseCronItems(crontab).length, crontab.length);
});

test('jobs started by the clock are repeated after a crash', () => {
  for (const { task, options } of crontab) assert.ok((options?.maxAttempts ?? 25) >= 5, task);
});

test('an expired rate window goes when keys.clean_up has run', async (t) => {
  await db`
    insert into rate_windows (subject, minute, count)
    values ('key:old', now() - interval '1 hour', 1)`;
  const jobs = await workOn(t, { db, url, tasks: tasks(taskTools(db)), crontab });

  await enqueue(db, [{ task: 'keys.clean_up', payload: {} }]);
  jobs.pump();

  await until('the window is gone', async () => (await db`select from rate_windows`).length === 0);
});
