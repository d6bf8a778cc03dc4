/**
 * The colour `values` (linear red, green, blue) with another lightness and the same hue, in Oklab
 * (bottosson.github.io/posts/oklab): there a step looks as large in any hue. Its saturation is kept as
 * far as a screen can show it.
 */
export function withLightness(values: readonly number[], change: (lightness: number) => number) {
  const [before = 0, a = 0, b = 0] = toOklab(values);
  const lightness = Math.min(1, Math.max(0, change(before)));
  let chroma = before === 0 ? 1 : Math.min(mostColourful, lightness / before);

  let changed = fromOklab(lightness, a * chroma, b * chroma);
  while (chroma > 0.01 && changed.some((value) => value < -tolerance || value > 1 + tolerance)) {
    chroma *= 0.95;
    changed = fromOklab(lightness, a * chroma, b * chroma);
  }
  return changed.map((value) => Math.min(1, Math.max(0, value)));
}

const mostColourful = 1.4;
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
