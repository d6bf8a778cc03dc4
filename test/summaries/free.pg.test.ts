import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandActor } from '../../src/audit/acts.ts';
import { createRedactionWorker } from '../../src/redaction-worker.ts';
import { chooseAnalyst } from '../../src/summaries/analyst.ts';
import { summarize } from '../../src/summaries/summarize.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();

test('the worker thread starts only while analysis is on', async (t) => {
  const asked: string[] = [];
  const reader = createRedactionWorker();
  t.after(reader.stop);
  const analyst = chooseAnalyst(
    { ai: null },
    {
      analyze: (remark) => {
        asked.push(remark.orgId);
        return reader.analyze(remark);
      },
    },
  );
  const [without, reading] = [
    await makeFeedback(db, { ai_enabled: false }),
    await makeFeedback(db),
  ];
  const period = { start: new Date('2026-05-01'), end: new Date('2026-06-01') };

  await without.analyzed(2, 'Terrible and slow', '2026-05-02', analyst);
  const wish = {
    organization: without.organization,
    period,
    scheduled: false,
    actor: commandActor(),
  };
  await summarize(readingTools(db, analyst), wish);
  assert.deepEqual(asked, []);

  await reading.analyzed(2, 'Terrible and slow', '2026-05-02', analyst);
  assert.deepEqual(asked, [reading.id]);
  const [analysis] = await reading.analyses();
  assert.deepEqual(analysis?.themes, ['performance']);
});
