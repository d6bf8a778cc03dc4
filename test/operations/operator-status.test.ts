import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestEnded } from '../../src/lib/http/http.ts';
import { watchRequests } from '../../src/operations/operator/requests.ts';
import {
  judgeBackups,
  judgeDeliveries,
  judgeErrors,
  judgeMails,
  judgeQueue,
} from '../../src/operations/operator/status.ts';

const now = new Date('2026-11-26T03:00:00Z');
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);

const backups: [ages: number[], status: string, said: RegExp][] = [
  [[], 'unknown', /no backup by `askback backup` is recorded/],
  [[31], 'ok', /is 31 h old$/],
  [[9000], 'ok', /is 375 days old$/],
  [[48, 72], 'ok', /is 2 days old$/],
  [[49, 73], 'warn', /is 2 days old, the one before it 24 h earlier$/],
  [[47, 48], 'ok', /is 47 h old$/],
  [[700, 1400], 'ok', /is 29 days old$/],
];
for (const [ages, status, said] of backups) {
  test(`backups of ${ages.join(' and ') || 'no'} hours ago are judged ${status}`, () => {
    const found = judgeBackups(ages.map(hoursAgo), now);
    assert.equal(found.status, status);
    assert.match(found.message, said);
  });
}

const queues: [task: string, seconds: number, status: string][] = [
  ['sends.mail', 120, 'ok'],
  ['sends.mail', 121, 'fail'],
  ['summaries.analyze', 3600, 'ok'],
  ['summaries.analyze', 3601, 'warn'],
  ['webhooks.deliver', 600, 'ok'],
  ['webhooks.deliver', 601, 'warn'],
];
for (const [task, oldest_seconds, status] of queues) {
  test(`${task} that has waited ${oldest_seconds} s is judged ${status}`, () => {
    assert.equal(judgeQueue([{ task, waiting: 3, oldest_seconds }], 0).status, status);
  });
}

test('judgeQueue warns of jobs that failed permanently', () => {
  assert.equal(judgeQueue([], 0).status, 'ok');
  const { status, message } = judgeQueue([], 1);
  assert.equal(status, 'warn');
  assert.match(message, /^1 job has failed permanently/);
});

const outcome = (status: string, count: number) => ({ status, count, byFiveMinutes: {} });

test('emails and deliveries fail from ten failures if over a fifth failed', () => {
  for (const [sent, failed, isFailing] of [
    [1, 9, false],
    [0, 10, true],
    [40, 10, false],
    [39, 10, true],
  ] as const) {
    const mails = judgeMails([
      outcome('sent', sent),
      outcome('unknown', 1),
      outcome('failed', failed - 1),
    ]);
    assert.equal(mails.status, isFailing ? 'fail' : 'ok');
    const deliveries = judgeDeliveries([outcome('delivered', sent), outcome('failed', failed)]);
    assert.equal(deliveries.status, isFailing ? 'warn' : 'ok');
  }
});

test('emails and deliveries warn when all of a few failed', () => {
  assert.equal(judgeMails([outcome('failed', 1)]).status, 'warn');
  assert.equal(judgeDeliveries([outcome('failed', 1)]).status, 'warn');
  assert.equal(judgeMails([]).status, 'ok');
  assert.equal(judgeDeliveries([outcome('skipped', 1)]).status, 'ok');
});

test('watchRequests keeps the newest 20 errors and the load of one hour', (t) => {
  let time = now.getTime();
  const requests = watchRequests(() => time);
  t.after(requests.stop);
  const end = (over: object) =>
    requestEnded.publish({
      method: 'GET',
      route: '/o/:slug',
      status: 200,
      ms: 10,
      requestId: 'some',
      tenant: null,
      traceparent: null,
      ...over,
    });
  for (let at = 1; at <= 25; at += 1) end({ status: 500, requestId: `error-${at}` });
  end({ status: 503, route: '/readyz' });
  end({ status: 404 });
  assert.deepEqual(
    requests.errors().map(({ requestId }) => requestId),
    Array.from({ length: 20 }, (_, at) => `error-${25 - at}`),
  );
  assert.equal(judgeErrors(requests.errors(), now).status, 'warn');
  assert.equal(judgeErrors(requests.errors(), new Date(time + 3_600_000)).status, 'ok');

  end({ tenant: 'early', ms: 500 });
  time += 40 * 60_000;
  end({ tenant: 'early', ms: 100 });
  end({ tenant: 'late', ms: 300 });
  assert.deepEqual(requests.busiest(2), [
    { orgId: 'early', requests: 2, ms: 600, slowestMs: 500 },
    { orgId: 'late', requests: 1, ms: 300, slowestMs: 300 },
  ]);
  time += 20 * 60_000;
  assert.deepEqual(requests.busiest(1), [{ orgId: 'late', requests: 1, ms: 300, slowestMs: 300 }]);
});
