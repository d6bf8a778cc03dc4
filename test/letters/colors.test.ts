import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contrast, mix, readableOn } from '../../src/letters/colors.ts';

const color = fc
  .integer({ min: 0, max: 0xffffff })
  .map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('contrast is that of the standard', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#777777'), 1);
  assert.equal(contrast('#767676', '#FFFFFF').toFixed(2), '4.54');
});

test('any color becomes readable on any other', () => {
  fc.assert(
    fc.property(color, color, (text, background) => {
      assert.ok(contrast(readableOn(text, background), background) >= 4.5);
    }),
  );
});

test('a color that is readable already stays as it is', () => {
  assert.equal(readableOn('#0b6b3a', '#ffffff'), '#0b6b3a');
});

test('mixing goes from one color to the other', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((share) => mix('#000000', '#ffffff', share)),
    ['#000000', '#808080', '#ffffff'],
  );
});
