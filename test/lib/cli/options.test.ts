import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { Color, Line, Moment, Whole } from '../../../src/lib/cli/command.ts';

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

test('a color has six digits, in capitals or not', () => {
  for (const text of ['#2F6FED', '#09afAF']) assert.equal(taken(Color, text), true, text);
  for (const text of ['#2F6FE', '#2F6FED0', '2F6FED', '#2F6FEG', '#FFF']) {
    assert.equal(taken(Color, text), false, text);
  }
});

test('a moment has as many as six digits of a second, and a time zone', () => {
  const moments = ['2027-01-31', '2027-01-31T12:00Z', '2027-01-31T12:00:00.123456+02:00'];
  for (const text of moments) assert.equal(taken(Moment, text), true, text);
  const others = ['2027-01-31T12:00', '2027-1-31', '2027-02-30', '2027-01-31T12:00:00.1234567Z'];
  for (const text of others) assert.equal(taken(Moment, text), false, text);
});
