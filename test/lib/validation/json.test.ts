import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson } from '../../../src/lib/validation/parse.ts';

const lists = (levels: number, inside: string) => '['.repeat(levels) + inside + ']'.repeat(levels);
const objects = (levels: number, inside: string) =>
  '{"a":'.repeat(levels) + inside + '}'.repeat(levels);

for (const nested of [lists, objects]) {
  test(`${nested === lists ? 'lists' : 'objects'} are nested up to 64 levels, whatever is in the last`, () => {
    for (const inside of ['1', '"x"', 'null', 'true']) {
      const text = nested(64, inside);
      assert.equal(JSON.stringify(parseJson(text)), text);
      assert.throws(() => parseJson(nested(65, inside)), /nested deeper than 64 levels/);
    }
    for (const empty of ['[]', '{}']) {
      assert.ok(parseJson(nested(63, empty)));
      assert.throws(() => parseJson(nested(64, empty)), /nested deeper than 64 levels/);
    }
  });
}
