import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  contrast,
  edgeContrast,
  mix,
  type Palette,
  readableOn,
  textContrast,
  themeOf,
  withLightness,
} from '../../src/web/color.ts';

/** What pages of these colours look like: a page keeps its colours. */
const looks: [color: string, onBrand: string, light: Partial<Palette>, dark: Partial<Palette>][] = [
  [
    ...(['#2f6fed', '#ffffff'] as const),
    { page: '#f3f6fe', soft: '#eaf0fb', accent: '#2a64d7', onAccent: '#ffffff' },
    { page: '#10151f', card: '#1a202c', soft: '#202b41', accent: '#578ffb', onAccent: '#000000' },
  ],
  [
    ...(['#facc15', '#000000'] as const),
    { page: '#fffcf1', soft: '#f3f0e6', accent: '#826906', onAccent: '#ffffff' },
    { page: '#1a1914', card: '#242521', soft: '#393620', accent: '#facc15', onAccent: '#000000' },
  ],
  [
    ...(['#0b0b0f', '#ffffff'] as const),
    { page: '#f0f0f1', soft: '#e7e7e7', accent: '#0b0b0f', onAccent: '#ffffff' },
    { page: '#0e1014', card: '#181b21', soft: '#24262d', accent: '#8c8c94', onAccent: '#000000' },
  ],
  [
    ...(['#ff0080', '#000000'] as const),
    { page: '#fff0f7', soft: '#fae6f0', accent: '#d10068', onAccent: '#ffffff' },
    { page: '#1a0f19', card: '#251b27', soft: '#3b2031', accent: '#fd4f8e', onAccent: '#000000' },
  ],
];
const same = { text: '#14161b', muted: '#545965', line: '#858b98', card: '#ffffff' };
const sameInTheDark = { text: '#f3f4f6', muted: '#b1b6c1', line: '#858c9a' };
for (const [color, onBrand, light, dark] of looks) {
  test(`pages of ${color} look as they always have`, () => {
    assert.deepEqual(themeOf(color), {
      brand: color,
      onBrand,
      light: { ...same, ...light },
      dark: { ...sameInTheDark, ...dark },
    });
  });
}

const unit = fc.double({ min: 0, max: 1, noNaN: true });

test('a colour with its own lightness is itself, and every other lightness can be shown', () => {
  const near = (one: readonly number[], other: readonly number[]) =>
    one.every((value, at) => Math.abs(value - other[at]!) < 1e-6);
  fc.assert(
    fc.property(fc.tuple(unit, unit, unit), unit, (color, lightness) => {
      assert.ok(
        near(
          withLightness(color, (own) => own),
          color,
        ),
      );
      const other = withLightness(color, () => lightness);
      assert.ok(other.every((value) => value >= 0 && value <= 1));
    }),
  );
});

const moved: [color: number[], change: (lightness: number) => number, to: number[]][] = [
  [[0.2, 0.4, 0.8], (own) => own + 0.1, [0.361711, 0.587723, 0.995385]],
  [[0, 0, 0], () => 0.5, [0.125, 0.125, 0.125]],
  [[0.9, 0.05, 0.6], (own) => own - 0.3, [0.15724, 0.008736, 0.104827]],
  [[0.03, 0.01, 0.2], (own) => own + 0.5, [0.509513, 0.507814, 0.980599]],
  [[0.5, 0.5, 0.1], () => 2, [1, 1, 0.991933]],
];
for (const [color, change, to] of moved) {
  test(`${color} of another lightness keeps its hue, as far as a screen can show it: ${to}`, () => {
    const rounded = withLightness(color, change).map((value) => Number(value.toFixed(6)));
    assert.deepEqual(rounded, to);
  });
}

test('a text is moved from its colour no further than it must be', () => {
  assert.equal(readableOn('#facc15', '#ffffff'), '#8a700c');
  assert.equal(readableOn('#0f766e', '#101010', 3), '#0f766e');
  assert.equal(readableOn('#777777', '#808080'), '#121212');
});

const anyColor = fc
  .integer({ min: 0, max: 0xffffff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`);

test('contrast is WCAG’s: 21 for black on white, 1 for the same colour', () => {
  assert.deepEqual([textContrast, edgeContrast], [4.5, 3], 'for text and for edges');
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#777777', '#777777'), 1);
  assert.ok(Math.abs(contrast('#767676', '#ffffff') - 4.54) < 0.01);
});

test('whatever the organization’s colour, all text can be read and all edges seen', () => {
  fc.assert(
    fc.property(anyColor, (color) => {
      const { brand, onBrand, light, dark } = themeOf(color);
      assert.ok(contrast(onBrand, brand) >= textContrast, 'on the brand');
      for (const palette of [light, dark]) assertReadable(palette);
    }),
    { numRuns: 2000 },
  );
});

test('a colour that has contrast enough is taken as it is', () => {
  assert.equal(themeOf('#0F766E').light.accent, '#0f766e');
  assert.equal(themeOf('#7DD3FC').dark.accent, '#7dd3fc');
});

test('a colour that almost has contrast enough is moved by one step', () => {
  assert.equal(themeOf('#107c73').light.accent, '#0f7970');
});

test('any colour becomes readable on any other', () => {
  fc.assert(
    fc.property(anyColor, anyColor, (text, background) => {
      assert.ok(contrast(readableOn(text, background), background) >= textContrast);
    }),
  );
});

test('a colour that is readable already stays as it is', () => {
  assert.equal(readableOn('#0b6b3a', '#ffffff'), '#0b6b3a');
});

test('mixing goes from one colour to the other', () => {
  assert.deepEqual(
    [0, 0.5, 1].map((share) => mix('#000000', '#ffffff', share)),
    ['#000000', '#808080', '#ffffff'],
  );
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
