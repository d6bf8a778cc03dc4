import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { Color, Line, Moment, Whole } from '../../../src/lib/cli/command.ts';

const taken = (schema: v.GenericSchema, text: string) => v.is(schema, text);

test('Line limits the number of characters', () => {
  for (const letter of ['a', '🙂']) {
    assert.equal(taken(Line(3), letter.repeat(3)), true);
    assert.equal(taken(Line(3), letter.repeat(4)), false);
  }
  assert.equal(taken(Line(3), ' abc '), true);
  assert.equal(taken(Line(3), '  '), false);
});

test('Whole accepts the minimum to the maximum', () => {
  assert.deepEqual(
    ['1', '2', '9', '10', '2.0', '-2'].map((text) => taken(Whole(2, 9), text)),
    [false, true, true, false, false, false],
  );
});

test('Color accepts six hexadecimal digits', () => {
  for (const text of ['#2F6FED', '#09afAF']) assert.equal(taken(Color, text), true, text);
  for (const text of ['#2F6FE', '#2F6FED0', '2F6FED', '#2F6FEG', '#FFF']) {
    assert.equal(taken(Color, text), false, text);
  }
});

test('Moment needs an offset and accepts microseconds', () => {
  const moments = ['2027-01-31', '2027-01-31T12:00Z', '2027-01-31T12:00:00.123456+02:00'];
  for (const text of moments) assert.equal(taken(Moment, text), true, text);
  const others = ['2027-01-31T12:00', '2027-1-31', '2027-02-30', '2027-01-31T12:00:00.1234567Z'];
  for (const text of others) assert.equal(taken(Moment, text), false, text);
});
