import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { chooseAnalyst } from '../../src/summaries/choose-analyst.ts';
import { summarize } from '../../src/summaries/summarize.ts';
import { makeFeedback, readingTools } from '../support/make/feedback.ts';
import { testDatabase } from '../support/probe/database.ts';

const { db } = await testDatabase();
const loaded = createRequire(import.meta.url).cache;
const modelIsLoaded = () => Object.keys(loaded).some((path) => path.includes('wink-eng'));

test('an organization without analysis never loads the language model, one with it does', async () => {
  const analyst = chooseAnalyst({ ai: null });
  const [without, reading] = [
    await makeFeedback(db, { ai_enabled: false }),
    await makeFeedback(db),
  ];
  const period = { start: new Date('2026-05-01'), end: new Date('2026-06-01') };

  await without.analyzed(2, 'Terrible and slow', '2026-05-02', analyst);
  const wish = { organization: without.organization, period, scheduled: false };
  await summarize(readingTools(db, analyst), wish);
  assert.equal(modelIsLoaded(), false);

  await reading.analyzed(2, 'Terrible and slow', '2026-05-02', analyst);
  assert.equal(modelIsLoaded(), true);
});
