import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobsOf } from '../../src/sends/mail-job.ts';

const parts: [mails: number, jobs: number[]][] = [
  [0, []],
  [1, [1]],
  [1000, [1000]],
  [1001, [1000, 1]],
  [2000, [1000, 1000]],
];
for (const [mails, sizes] of parts) {
  test(`${mails} mails are divided among ${sizes.length} jobs`, () => {
    const ids = Array.from({ length: mails }, (_, n) => `mail-${n}`);
    const jobs = jobsOf({ orgId: 'acme', traceparent: null }, ids);
    const divided = jobs.map(({ payload }) => (payload as { mail_ids: string[] }).mail_ids);
    assert.deepEqual(
      divided.map((part) => part.length),
      sizes,
    );
    assert.deepEqual(divided.flat(), ids);
  });
}
