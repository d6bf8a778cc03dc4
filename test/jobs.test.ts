import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payloads, runnerGroups } from '../src/jobs.ts';
import { crontab } from '../src/tasks.ts';

const groupOf = (task: string) =>
  Object.entries(runnerGroups).find(([, { takes }]) => takes(task))?.[0];

test('jobs that wait for a server of others have runners of their own, other jobs share one', () => {
  const groups = Object.fromEntries(Object.keys(payloads).map((task) => [task, groupOf(task)]));
  assert.equal(groups['sends.mail'], 'mail');
  assert.equal(groups['summaries.make'], 'reading');
  assert.equal(groups['notifications.mail'], 'reading');
  assert.equal(groups['notifications.post'], 'reading');
  assert.equal(groups['webhooks.deliver'], 'rest');
  assert.equal(groups['campaigns.advance'], 'rest');
});

test('every job that the clock starts has a payload without fields', () => {
  for (const { task } of crontab) {
    const schema = payloads[task as keyof typeof payloads];
    assert.deepEqual(Object.keys(schema.entries), [], task);
  }
});
