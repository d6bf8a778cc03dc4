/** Colors as mail clients take them: #rrggbb. Pure. */

type Rgb = [red: number, green: number, blue: number];

/** WCAG 2 asks for this much between text and what is behind it, and around a control. */
const readable = 4.5;
export const discernible = 3;

/** The color, made darker or lighter only as far as text in it can be read on the background. */
export function readableOn(color: string, background: string, least = readable): string {
  const goal = luminance(parse(background)) > 0.18 ? '#000000' : '#ffffff';
  for (let share = 0; share < 1; share += 0.05) {
    const candidate = mix(color, goal, share);
    if (contrast(candidate, background) >= least) return candidate;
  }
  return goal;
}

/** `share` of the second color in the first, 0 to 1. */
export function mix(color: string, other: string, share: number): string {
  const [from, to] = [parse(color), parse(other)];
  const channels = from.map((channel, at) => Math.round(channel + (to[at]! - channel) * share));
  return `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}

/** 1 (the same) to 21 (black on white). */
export function contrast(color: string, other: string): number {
  const [dark, light] = [luminance(parse(color)), luminance(parse(other))].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
