import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payloads } from '../src/jobs.ts';
import { crontab } from '../src/tasks.ts';

test('every job that the clock starts has a payload without fields', () => {
  for (const { task } of crontab) {
    const schema = payloads[task as keyof typeof payloads];
    assert.deepEqual(Object.keys(schema.entries), [], task);
  }
});
