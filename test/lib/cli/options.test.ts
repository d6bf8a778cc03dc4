import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { Line, Whole } from '../../../src/lib/cli/options.ts';

const taken = (schema: v.GenericSchema, text: string) => v.is(schema, text);

test('a line is as long as it may be, counted in characters, and no longer', () => {
  for (const letter of ['a', '🙂']) {
    assert.equal(taken(Line(3), letter.repeat(3)), true);
    assert.equal(taken(Line(3), letter.repeat(4)), false);
  }
  assert.equal(taken(Line(3), ' abc '), true);
  assert.equal(taken(Line(3), '  '), false);
});

test('a whole number is one of those from the least to the greatest', () => {
  assert.deepEqual(
    ['1', '2', '9', '10', '2.0', '-2'].map((text) => taken(Whole(2, 9), text)),
    [false, true, true, false, false, false],
  );
});
