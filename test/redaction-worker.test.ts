import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkerError } from '../src/lib/worker/worker.ts';
import { createRedactionWorker } from '../src/redaction-worker.ts';
import { keptLog } from './support/probe/log.ts';
import { leastCost, readerOfThisThread } from './support/probe/processor-time.ts';

const acme = { orgId: 'acme', names: ['quennell'], emails: ['q@acme.test'], language: 'en' };
const comment = 'Ahmed from quennell, q@acme.test, +49 30 1234567, was very slow to answer';

const unread = (task: string, why: string) => [
  'warn',
  'could not read a text in time',
  { task, why },
];

test('a comment is redacted in the thread', async (t) => {
  const reader = createRedactionWorker();
  t.after(reader.stop);
  const redacted = '[name] from [name], [email], [phone], was very slow to answer';
  assert.equal(await reader.excerpt(comment, acme), redacted);
  assert.equal(await reader.redact(comment, acme), redacted);
});

const workerThat = (run: () => Promise<unknown>, log = keptLog().log) =>
  createRedactionWorker(log, { run, stop: async () => {} });

test('a comment is refused, not damaged, when the thread is late', async () => {
  const { lines, log } = keptLog();
  const late = workerThat(() => Promise.reject(new WorkerError('timeout', 'no')), log);
  for (const read of [late.excerpt, late.redact]) {
    await assert.rejects(read(comment, acme), { kind: 'unavailable', code: 'comment_not_read' });
  }
  assert.deepEqual(lines, [unread('excerpt', 'timeout'), unread('redact', 'timeout')]);
});

test('a comment that ends the thread loses its words', async () => {
  const failing = workerThat(() => Promise.reject(new WorkerError('failed', 'no')));
  const redacted = '[name], [email], [phone], [name]';
  assert.equal(await failing.excerpt(comment, acme), redacted);
  assert.equal(await failing.redact(comment, acme), redacted);
});

test('a returned message is read in the thread', async (t) => {
  const reader = createRedactionWorker();
  t.after(reader.stop);
  const message = Buffer.from('\r\n'.repeat(512 * 1024));
  const ms = await leastCost(25, async () => {
    const used = readerOfThisThread();
    const report = await reader.report<{ kind: string }>('acme', message);
    assert.equal(report?.kind, 'other');
    return used.ms();
  });
  assert.ok(ms < 25, `${ms} ms of this thread`);
});

test('a message is refused only when its reading did not start', async () => {
  const failing = (kind: WorkerError['kind']) =>
    workerThat(() => Promise.reject(new WorkerError(kind, 'no'))).report('acme', Buffer.from('x'));
  assert.equal(await failing('failed'), undefined);
  assert.equal(await failing('timeout'), undefined);
  await assert.rejects(failing('busy'), { kind: 'unavailable', retryInSeconds: 5 });
});
