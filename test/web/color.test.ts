import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  contrast,
  edgeContrast,
  type Palette,
  textContrast,
  themeOf,
} from '../../src/web/color.ts';

const anyColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`);

test('contrast is the WCAG ratio', () => {
  assert.deepEqual([textContrast, edgeContrast], [4.5, 3], 'for text and for edges');
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#777777'), 1);
  assert.ok(Math.abs(contrast('#767676', '#ffffff') - 4.54) < 0.01);
});

test('any brand colour gives readable palettes', () => {
  fc.assert(
    fc.property(anyColor, (color) => {
      const { brand, onBrand, light, dark } = themeOf(color);
      assert.ok(contrast(onBrand, brand) >= textContrast, 'on the brand');
      for (const palette of [light, dark]) assertReadable(palette);
    }),
    { numRuns: 2000 },
  );
});

test('a colour with enough contrast is not changed', () => {
  assert.equal(themeOf('#0F766E').light.accent, '#0f766e');
  assert.equal(themeOf('#7DD3FC').dark.accent, '#7dd3fc');
});

function assertReadable({ page, card, soft, text, muted, line, accent, onAccent }: Palette) {
  for (const ground of [page, card, soft]) {
    assert.ok(contrast(text, ground) >= textContrast, `text on ${ground}`);
    assert.ok(contrast(muted, ground) >= textContrast, `muted on ${ground}`);
    assert.ok(contrast(accent, ground) >= textContrast, `accent on ${ground}`);
  }
  assert.ok(contrast(onAccent, accent) >= textContrast, `on the accent ${accent}`);
  assert.ok(contrast(line, card) >= edgeContrast, `line on ${card}`);
}
