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

/** The minimum of WCAG 2.2 AA for text and for the edges of controls. */
export const textContrast = 4.5;
export const edgeContrast = 3;

const white = '#ffffff';
const black = '#000000';
const ink = '#14161b';
const mixStep = 0.02;

/** Makes light and dark palettes from an organization's colour, darkened or lightened only as far as contrast needs. */
export function themeOf(color: string): ColorTheme {
  const brand = color.toLowerCase();
  const light = paletteOf(brand, black, {
    page: mix(white, brand, 0.06),
    card: white,
    text: ink,
    muted: '#545965',
    line: '#858b98',
  });
  const dark = paletteOf(brand, white, {
    page: mix('#0e1014', brand, 0.05),
    card: mix('#191c22', brand, 0.05),
    text: '#f3f4f6',
    muted: '#b1b6c1',
    line: '#858c9a',
  });
  return { brand, onBrand: inkOn(brand), light, dark };
}

/** Mixes black or white into the brand until it is readable on every background. */
function paletteOf(
  brand: string,
  goal: string,
  ground: Omit<Palette, 'soft' | 'accent' | 'onAccent'>,
): Palette {
  let accent = brand;
  for (let share = mixStep; ; share += mixStep) {
    const soft = mix(ground.card, accent, 0.1);
    const grounds = [ground.page, ground.card, soft];
    if (grounds.every((color) => contrast(accent, color) >= textContrast)) {
      return { ...ground, soft, accent, onAccent: inkOn(accent) };
    }
    accent = mix(brand, goal, Math.min(share, 1));
  }
}

/** White or black: one of them is always readable. */
function inkOn(color: string): string {
  return contrast(white, color) >= textContrast ? white : black;
}

/** Darkens or lightens a colour until it has enough contrast with the background. */
export function readableOn(color: string, background: string, least = textContrast): string {
  const goal = luminance(background) > 0.18 ? black : white;
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mix(color, goal, share);
    if (contrast(candidate, background) >= least) return candidate;
  }
  return goal;
}

/** The WCAG contrast ratio, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter! + 0.05) / (darker! + 0.05);
}

function luminance(color: string): number {
  const [red, green, blue] = channels(color).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** `share` is the part of the second colour, 0 to 1. */
export function mix(from: string, to: string, share: number): string {
  const target = channels(to);
  return toHex(channels(from).map((value, at) => value + (target[at]! - value) * share));
}

const channels = (color: string) =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);

const toHex = (values: number[]) =>
  `#${values
    .map((value) =>
      Math.round(value * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
