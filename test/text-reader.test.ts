import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { WorkerError } from '../src/lib/worker/worker.ts';
import { createBuiltinAnalyst } from '../src/summaries/builtin.ts';
import { createTextReader } from '../src/text-reader.ts';
import { keptLog } from './support/probe/log.ts';
import { leastCost, readerOfThisThread } from './support/probe/processor-time.ts';

const acme = { orgId: 'acme', names: ['quennell'], emails: ['q@acme.test'] };
const comment = 'Ahmed from quennell, q@acme.test, +49 30 1234567, was very slow to answer';

const unread = (task: string, why: string) => [
  'warn',
  'could not read a text in time',
  { task, why },
];

test('a comment is redacted in the thread', async (t) => {
  const reader = createTextReader();
  t.after(reader.stop);
  const redacted = '[name] from [name], [email], [phone], was very slow to answer';
  assert.equal(await reader.excerpt(comment, acme), redacted);
  assert.equal(await reader.redact(comment, acme), redacted);
});

test('the thread stays for a minute after its last text', async (t) => {
  let threads = 0;
  const count = () => {
    threads += 1;
  };
  subscribe('worker_threads', count);
  t.after(() => unsubscribe('worker_threads', count));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reader = createTextReader();
  t.after(reader.stop);
  for (const [waitMs, expected] of [
    [0, 1],
    [59_999, 1],
    [60_000, 2],
  ] as const) {
    t.mock.timers.tick(waitMs);
    await reader.redact(comment, acme);
    assert.equal(threads, expected, `${waitMs} ms later`);
  }
});

test('a message that came back is read in the thread', async (t) => {
  const reader = createTextReader();
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

test('each task has its time: an answer waits less for its excerpt than a job for the rest', async () => {
  const limits: [name: string, limitMs: number][] = [];
  const reader = createTextReader(undefined, {
    run: async ({ name, limitMs }) => void limits.push([name, limitMs]),
    stop: async () => {},
  });
  await reader.excerpt(comment, acme);
  await reader.redact(comment, acme);
  await reader.analyze(acme);
  await reader.report('acme', Buffer.from('x'));
  assert.deepEqual(limits, [
    ['excerpt', 3_000],
    ['redact', 10_000],
    ['analyze', 10_000],
    ['report', 5_000],
  ]);
});

test('sixty-four texts of an organization wait for the thread, and no more, whatever others do', async (t) => {
  const { lines, log } = keptLog();
  const reader = createTextReader(log);
  t.after(reader.stop);
  const read = (orgId: string, many: number) =>
    Array.from({ length: many }, () => reader.redact('words', { ...acme, orgId }));
  const [one] = read('acme', 1);
  const others = [...read('acme', 64), ...read('larch', 64)];
  const late = reader.redact('words', acme);
  await Promise.all([one, ...others, late]);
  assert.deepEqual(
    lines.filter(([, , fields]) => (fields as { why: string }).why === 'busy'),
    [unread('redact', 'busy')],
  );
});

test('a message is refused while too many wait, and unread when the thread fails', async () => {
  const { lines, log } = keptLog();
  const failing = (kind: 'timeout' | 'busy' | 'failed') =>
    createTextReader(log, {
      run: () => Promise.reject(new WorkerError(kind, 'no')),
      stop: async () => {},
    }).report('acme', Buffer.from('x'));
  assert.equal(await failing('timeout'), undefined);
  assert.equal(await failing('failed'), undefined);
  await assert.rejects(failing('busy'), { kind: 'unavailable', retryInSeconds: 5 });
  const expected = ['timeout', 'failed', 'busy'].map((kind) => unread('report', kind));
  assert.deepEqual(lines, expected);
});

for (const kind of ['timeout', 'busy', 'failed'] as const) {
  test(`${kind}: everything that could be a name is redacted at once, and it is logged`, async () => {
    const { lines, log } = keptLog();
    const run = () => Promise.reject(new WorkerError(kind, 'no'));
    const reader = createTextReader(log, {
      run,
      stop: async () => {},
    });

    for (const redacted of [
      await reader.excerpt(comment, acme),
      await reader.redact(comment, acme),
      await reader.redact('王先生 и Жанна met anonymous ann.', acme),
    ]) {
      assert.doesNotMatch(redacted, /ahmed|quennell|@|[0-9]|王|анна|ann/i);
      assert.match(redacted, /\[name\]/);
    }
    assert.match(await reader.excerpt(comment, acme), /was very slow to answer$/);
    const slow = { ...acme, names: ['Very Slow'] };
    for (const known of [await reader.excerpt(comment, slow), await reader.redact(comment, slow)])
      assert.match(known, /was \[name\] to answer$/, 'a known name that is a word like any other');
    assert.deepEqual(lines.slice(0, 2), [unread('excerpt', kind), unread('redact', kind)]);
  });

  test(`${kind}: the built-in analyst goes by the score alone`, async () => {
    const run = () => Promise.reject(new WorkerError(kind, 'no'));
    const reader = createTextReader(undefined, { run, stop: async () => {} });
    const remark = {
      orgId: 'acme',
      comment,
      score: 2,
      type: 'nps',
      category: 'detractor',
    } as const;
    const answer = await createBuiltinAnalyst(reader.analyze).analyze({
      ...remark,
      language: 'en',
      themes: [],
    });
    assert.deepEqual(answer.ok && [answer.value.sentiment, answer.value.themes], ['negative', []]);
  });
}
