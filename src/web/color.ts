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
    accent = shiftLightness(brand, direction * lightnessStep * steps);
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

function shiftLightness(color: string, by: number): string {
  const values = withLightness(linear(color), (lightness) => lightness + by);
  return toHex(
    values.map((value) =>
      value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055,
    ),
  );
}

/** `share` of the second colour in the first, 0 to 1. */
export function mix(from: string, to: string, share: number): string {
  const target = channels(to);
  return toHex(channels(from).map((value, at) => value + (target[at]! - value) * share));
}

const channels = (color: string) =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);

const linear = (color: string) =>
  channels(color).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );

const toHex = (values: number[]) =>
  `#${values
    .map((value) =>
      Math.round(value * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;

/**
 * The colour `values` (linear red, green, blue) with another lightness and the same hue, in Oklab
 * (bottosson.github.io/posts/oklab): there a step looks as large in any hue. Its saturation is kept as
 * far as a screen can show it.
 */
export function withLightness(values: readonly number[], change: (lightness: number) => number) {
  const [before = 0, a = 0, b = 0] = toOklab(values);
  const lightness = Math.min(1, Math.max(0, change(before)));
  let chroma = before === 0 ? 1 : Math.min(maxChroma, lightness / before);

  let changed = fromOklab(lightness, a * chroma, b * chroma);
  while (chroma > 0.01 && changed.some((value) => value < -tolerance || value > 1 + tolerance)) {
    chroma *= 0.95;
    changed = fromOklab(lightness, a * chroma, b * chroma);
  }
  return changed.map((value) => Math.min(1, Math.max(0, value)));
}

const maxChroma = 1.4;
const tolerance = 0.001;

function toOklab([red = 0, green = 0, blue = 0]: readonly number[]): number[] {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab(lightness: number, a: number, b: number): number[] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}
