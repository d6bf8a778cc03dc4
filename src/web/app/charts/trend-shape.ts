import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';

/** One step of a trend: a day, a week or a month. Without answers it has no value, and the line breaks. */
export type TrendPoint = { value: number | null; margin: number | null };

export type ValueBounds = { lowest: number; highest: number };

/** Geometry in units of the drawing: 10 wide for each step, 100 high. */
export type TrendShape = {
  width: number;
  ticks: readonly { value: number; y: number }[];
  line: string;
  band: string;
  /** The points as strokes without length, which round ends turn into dots. */
  dots: string;
  lastDot: string;
};

export const stepWidth = 10;
const chartHeight = 100;
/** More dots than this are a second line. */
const mostDots = 60;
const mostTicks = 5;
/** The part of the scale that is drawn at least: of less, a point more or less looks like a change. */
const leastPart = 0.1;

/** The line of the values with its margins as a band, on a scale that covers both. */
export function shapeTrend(points: readonly TrendPoint[], bounds: ValueBounds): TrendShape {
  const ticks = ticksOf(points, bounds);
  const y = scaleLinear([ticks[0]!, ticks.at(-1)!], [chartHeight, 0]);
  const x = (step: number) => stepWidth * (step + 0.5);
  const within = (value: number) => rounded(y(Math.min(Math.max(value, ticks[0]!), ticks.at(-1)!)));

  const isKnown = ({ value }: TrendPoint) => value !== null;
  const drawLine = line<TrendPoint>()
    .defined(isKnown)
    .x((_, step) => x(step))
    .y(({ value }) => within(value!));
  const drawBand = area<BandPoint>()
    .defined(({ value }) => value !== null)
    .x(({ at }) => at)
    .y0(({ value, margin }) => within(value! - (margin ?? Infinity)))
    .y1(({ value, margin }) => within(value! + (margin ?? Infinity)));

  const dots = points.flatMap((point, step) =>
    isKnown(point) ? [`M${x(step)} ${within(point.value!)}h0`] : [],
  );
  return {
    width: stepWidth * Math.max(points.length, 1),
    ticks: ticks.toReversed().map((value) => ({ value, y: rounded(y(value)) })),
    line: drawLine([...points]) ?? '',
    band: drawBand(bandPoints(points, x)) ?? '',
    dots: dots.length > mostDots ? '' : dots.join(''),
    lastDot: dots.at(-1) ?? '',
  };
}

/** Where the band has a corner. A step whose margin is not known has a band without limits: as high as the drawing. */
type BandPoint = TrendPoint & { at: number };

/** A step between others that have no value would have a band without width: it gets that of the step. */
function bandPoints(points: readonly TrendPoint[], x: (step: number) => number): BandPoint[] {
  return points.flatMap((point, step) => {
    const isKnown = (place: number) => (points[place]?.value ?? null) !== null;
    const isAlone = !isKnown(step - 1) && !isKnown(step + 1);
    const places = isAlone ? [x(step - 0.5), x(step + 0.5)] : [x(step)];
    return places.map((at) => ({ ...point, at }));
  });
}

/** Round values, evenly apart, the first and the last of which hold everything that is drawn. */
function ticksOf(points: readonly TrendPoint[], { lowest, highest }: ValueBounds): number[] {
  const ends = points.flatMap(({ value, margin }) =>
    value === null ? [] : [value - (margin ?? 0), value + (margin ?? 0)],
  );
  if (ends.length === 0) return [lowest, (lowest + highest) / 2, highest];
  const [low, high] = widened([Math.min(...ends), Math.max(...ends)], { lowest, highest });
  for (let wanted = mostTicks - 1; wanted > 0; wanted--) {
    const scale = scaleLinear([low, high], [0, 1]);
    const [first = low, last = high] = scale.nice(wanted).domain();
    const ticks = scale.ticks(wanted);
    if (ticks.length <= mostTicks && first >= lowest && last <= highest) return ticks;
  }
  return [lowest, (lowest + highest) / 2, highest];
}

function widened([low, high]: [number, number], { lowest, highest }: ValueBounds) {
  const least = leastPart * (highest - lowest);
  const more = Math.max(least - (high - low), 0) / 2;
  const from = Math.max(lowest, Math.min(low - more, highest - least));
  return [rounded(from), rounded(Math.min(highest, Math.max(high + more, from + least)))] as const;
}

const rounded = (value: number) => Math.round(value * 100) / 100;
