import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobRan, runJob, TurnedAway } from '../../../src/lib/queue/task.ts';
import { keptLog } from '../../support/probe/log.ts';

const causing = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${causing}-b7ad6b7169203331-01`;
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
const postgresIsAway = Object.assign(new Error('away'), { code: '57P01' });
const stopping = Object.assign(new Error('stopping'), { name: 'AbortError' });

const turnedAway = new TurnedAway('refused for now');

/** An end of a run, and the level of its log line. */
const ends: { error: Error | undefined; level: string | undefined; failed: boolean }[] = [
  { error: undefined, level: undefined, failed: false },
  { error: new Error('a fault'), level: 'error', failed: true },
  { error: postgresIsAway, level: 'debug', failed: true },
  { error: stopping, level: 'debug', failed: true },
  { error: turnedAway, level: 'debug', failed: false },
];

for (const { error, level, failed } of ends) {
  test(`a run of a job is published and logged: ${error?.message ?? 'success'}`, async (t) => {
    const { lines, log } = keptLog({ debugged: true });
    const published: unknown[] = [];
    t.after(jobRan.subscribe((facts) => published.push(facts)));
    const times = [1000, 1250];
    t.mock.method(performance, 'now', () => times.shift());
    const job = { task: 'things.do', id: '17', attempt: 3, traceparent, causedAt: minutesAgo(1) };
    const run = runJob(log, job, async () => {
      if (error) throw error;
    });
    assert.equal(await run.catch((thrown: unknown) => thrown), error);
    assert.deepEqual(published, [{ task: 'things.do', ms: 250, failed }]);
    const fields = { err: error?.message, task: 'things.do', job: '17', attempt: 3 };
    const line = [level, 'a job failed and will be tried again', fields];
    assert.deepEqual(lines, level ? [line] : []);
  });
}

test('the last run of a job that is turned away ends the job', async () => {
  const { lines, log } = keptLog();
  const job = { task: 'things.do', id: '17', attempt: 10, traceparent, causedAt: minutesAgo(1) };
  await runJob(log, job, () => Promise.reject(turnedAway));
  const fields = { err: 'refused for now', task: 'things.do', job: '17', attempt: 10 };
  assert.deepEqual(lines, [['warn', 'a job was given up', fields]]);
});
