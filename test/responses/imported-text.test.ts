import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importedText } from '../../src/responses/cli.ts';

const cases: [imported: number, passed_over: number, erased: number, text: string][] = [
  [3, 0, 0, 'imported 3 responses'],
  [1, 0, 0, 'imported 1 response'],
  [2, 1, 0, 'imported 2 responses, 1 was there already'],
  [2, 1, 1, 'imported 2 responses, 1 left out: the person was erased'],
  [3, 2, 0, 'imported 3 responses, 2 were there already'],
  [3, 2, 2, 'imported 3 responses, 2 left out: the person was erased'],
  [3, 5, 2, 'imported 3 responses, 3 were there already, 2 left out: the person was erased'],
];
for (const [imported, passed_over, erased, text] of cases) {
  test(`of ${passed_over} that were passed over ${erased} are of erased persons: ${text}`, () => {
    assert.equal(importedText({ imported, passed_over, erased }), text);
  });
}
