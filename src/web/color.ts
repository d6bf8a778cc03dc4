import { withLightness } from './lightness.ts';

/** The colours of a page in one colour scheme, each `#rrggbb`. */
export type Palette = {
  page: string;
  card: string;
  soft: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  onAccent: string;
};

export type ColorTheme = { brand: string; onBrand: string; light: Palette; dark: Palette };

/** What WCAG 2.2 AA asks of text, and of the edges of a control. */
export const textContrast = 4.5;
export const edgeContrast = 3;

const white = '#ffffff';
const ink = '#14161b';

/**
 * The palettes of an organization's colour. The colour itself may be anything: where it must be read
 * or set a control apart it is darkened, or in the dark lightened, as far as contrast needs and no further.
 */
export function themeOf(color: string): ColorTheme {
  const brand = color.toLowerCase();
  const light = paletteOf(brand, -1, {
    page: mix(white, brand, 0.06),
    card: white,
    text: ink,
    muted: '#545965',
    line: '#858b98',
  });
  const dark = paletteOf(brand, 1, {
    page: mix('#0e1014', brand, 0.05),
    card: mix('#191c22', brand, 0.05),
    text: '#f3f4f6',
    muted: '#b1b6c1',
    line: '#858c9a',
  });
  return { brand, onBrand: inkOn(brand), light, dark };
}

const lightnessStep = 0.01;

/** Moves the brand towards white (1) or black (-1), until it can be read on every ground. */
function paletteOf(
  brand: string,
  direction: 1 | -1,
  ground: Omit<Palette, 'soft' | 'accent' | 'onAccent'>,
): Palette {
  let accent = brand;
  for (let steps = 1; ; steps++) {
    const soft = mix(ground.card, accent, 0.1);
    const grounds = [ground.page, ground.card, soft];
    if (grounds.every((color) => contrast(accent, color) >= textContrast)) {
      return { ...ground, soft, accent, onAccent: inkOn(accent) };
    }
    accent = moved(brand, direction * lightnessStep * steps);
  }
}

/** White where it can be read, else black: one of the two always can. */
function inkOn(color: string): string {
  return contrast(white, color) >= textContrast ? white : '#000000';
}

/** The colour, darkened or lightened only as far as it has contrast enough on the background. */
export function readableOn(color: string, background: string, least = textContrast): string {
  const goal = luminance(background) > 0.18 ? '#000000' : white;
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mix(color, goal, share);
    if (contrast(candidate, background) >= least) return candidate;
  }
  return goal;
}

/** The contrast of two colours as WCAG defines it, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = linear(color);
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function moved(color: string, by: number): string {
  const values = withLightness(linear(color), (lightness) => lightness + by);
  return spell(
    values.map((value) =>
      value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055,
    ),
  );
}

/** `share` of the second colour in the first, 0 to 1. */
export function mix(from: string, to: string, share: number): string {
  const target = channels(to);
  return spell(channels(from).map((value, at) => value + (target[at]! - value) * share));
}

const channels = (color: string) =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);

const linear = (color: string) =>
  channels(color).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );

const spell = (values: number[]) =>
  `#${values
    .map((value) =>
      Math.round(value * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
