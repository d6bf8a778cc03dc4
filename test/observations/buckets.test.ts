import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instruments } from '../../src/observations/instruments.ts';

/** Rules and dashboards of operators name them. */
const buckets: Record<string, string> = {
  askback_delivery_attempt_duration_seconds: '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30',
  askback_delivery_duration_seconds:
    '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 300 1800 3600',
  askback_job_duration_seconds: '0.001 0.005 0.01 0.05 0.1 0.5 1 5 10 30 60 300',
  http_server_request_duration_seconds:
    '0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 30 60',
};

test('what takes time is counted in the buckets that it always was', () => {
  const found = instruments.flatMap((each) =>
    each.kind === 'histogram' ? [[each.name, each.buckets?.join(' ')] as const] : [],
  );
  assert.deepEqual(Object.fromEntries(found), buckets);
});
