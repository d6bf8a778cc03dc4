import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCronItems } from 'graphile-worker';
import { enqueue } from '../src/jobs.ts';
import { crontab, limitRunning, tasks } from '../src/tasks.ts';
import { taskTools } from './support/make/task-tools.ts';
import { testDatabase } from './support/probe/database.ts';
import { workOn } from './support/probe/jobs.ts';
import { until } from './support/probe/until.ts';

const { db, url } = await testDatabase();

test('every scheduled job is an existing task', () => {
  const known = Object.keys(tasks(taskTools(db)));
  assert.deepEqual(
    crontab.filter(({ task }) => !known.includes(task)),
    [],
  );
  assert.equal(parseCronItems(crontab).length, crontab.length);
});

test('keys.clean_up deletes expired rate windows', async (t) => {
  await db`
    insert into rate_windows (subject, minute, count)
    values ('key:old', now() - interval '1 hour', 1)`;
  await workOn(t, { url, tasks: tasks(taskTools(db)), crontab });

  await enqueue(db, [{ task: 'keys.clean_up', payload: {} }]);

  await until('the window is gone', async () => (await db`select from rate_windows`).length === 0);
});

test('a job above the limit of its task is requeued', async () => {
  const release = Promise.withResolvers<void>();
  let began = 0;
  const leave = limitRunning(db, 2);
  const run = leave(async () => {
    began += 1;
    await release.promise;
  });
  const payload = { org_id: 'org', mail_ids: ['one'], _trace: 'trace' };
  const job = { task: 'sends.mail' } as Parameters<typeof run>[1];
  const running = [run(payload, job), run(payload, job)];
  await run(payload, job);
  assert.equal(began, 2);
  const [again] = await db`
    select payload, run_at > now() as later from test.jobs where task = 'sends.mail'`;
  assert.deepEqual({ ...again }, { payload, later: true });
  release.resolve();
  await Promise.all(running);
  await run(payload, job);
  assert.equal(began, 3);
});
