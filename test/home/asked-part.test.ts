import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AskedCounts } from '../../src/home/figures.ts';
import { AskedPart } from '../../src/home/parts.tsx';

const shares: [counts: AskedCounts, shown: string[]][] = [
  [{ asked: 3, arrived: 2, answered: 1 }, ['67%', '33%']],
  [{ asked: 200, arrived: 1, answered: 0 }, ['1%', '0%']],
  [{ asked: 1000, arrived: 1000, answered: 4 }, ['100%', '0%']],
];
for (const [asked, shown] of shares) {
  test(`of ${asked.asked} who were asked ${asked.arrived} and ${asked.answered} are ${shown.join(' and ')}`, () => {
    const html = AskedPart({ asked }).toString();
    const found = [...html.matchAll(/<small class="soft">(\d+%)<\/small>/g)];
    assert.deepEqual(
      found.map(([, share]) => share),
      shown,
    );
  });
}
