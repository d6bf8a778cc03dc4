import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allTexts, keptTexts } from './support/walls/texts.ts';

test('every text of the screens, of mails to members and of commands is the one that was read over', async () => {
  const [texts, kept] = [await allTexts(), readFileSync(keptTexts, 'utf8').trimEnd().split('\n')];
  assert.ok(texts.length > 1000);
  const found = {
    said: texts.filter((line) => !kept.includes(line)),
    kept: kept.filter((line) => !texts.includes(line)),
  };
  const advice = 'read what is said now as a member does, then keep it: make texts';
  assert.deepEqual(found, { said: [], kept: [] }, `${advice}\n${JSON.stringify(found, null, 2)}`);
  assert.deepEqual(texts, kept, advice);
});
