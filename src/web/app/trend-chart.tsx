import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { Child } from 'hono/jsx';
import type { Interval } from '../../intervals.ts';
import { type PartOfWhole, percent, rounded, spreadParts, type ValueBounds } from './drawings.tsx';
import { DataTable, type TableColumn } from './lists.tsx';

export type TrendStep = TrendPoint & {
  /** On the axis: `24 Aug`. */
  label: string;
  /** The header of its table row: `Week of 24 Aug`. */
  name: string;
  /** The other cells of its table row. */
  cells: readonly Child[];
  /** Under the pointer: the score, then a line for each fact. */
  tip: readonly [score: string, ...facts: string[]];
  /** The responses of the step, drawn as a bar. */
  parts: readonly Pick<PartOfWhole, 'tone' | 'share'>[];
};

type TrendChartProps = {
  title: string;
  /** For screen readers. */
  description: string;
  caption: Child;
  steps: readonly TrendStep[];
  bounds: ValueBounds;
  formatTick: (value: number) => string;
  columns: readonly TableColumn[];
};

/**
 * A line with its intervals as a band, and the counts of each step as bars below. The line and band stretch with the
 * chart. Each step is an item with its guide, dot, bar and tooltip, so that hovering needs no script.
 */
export function TrendChart(props: TrendChartProps) {
  const { title, description, caption, steps, bounds, formatTick, columns } = props;
  const shape = shapeTrend(steps, bounds);
  const middle = steps.length > 2 ? steps[Math.floor((steps.length - 1) / 2)] : undefined;
  const dates = [...new Set([steps[0], middle, steps.at(-1)])].filter((step) => step !== undefined);
  const last = steps.findLastIndex(({ value }) => value !== null);
  const grid = (ticks: typeof shape.ticks) =>
    ticks.map(({ y }) => `M0 ${y}H${shape.width}`).join('');
  const most = Math.max(1, ...steps.map(({ parts }) => sumOf(parts)));
  return (
    <>
      <figure>
        <div class="trend">
          <div class="up" aria-hidden="true">
            {shape.ticks.map(({ value }) => (
              <span>{formatTick(value)}</span>
            ))}
          </div>
          <div class="plot">
            <svg
              viewBox={`0 0 ${shape.width} 100`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`${title}. ${description}`}
            >
              <path class="lines" d={grid(shape.ticks)} />
              <path class="zero" d={grid(shape.ticks.filter(({ value }) => value === 0))} />
              <path class="band" d={shape.band} />
              <path class="line" d={shape.line} />
            </svg>
            <ol class="points" aria-hidden="true">
              {steps.map((step, at) => (
                <Point step={step} most={most} isLast={at === last} y={shape.points[at]!} />
              ))}
            </ol>
          </div>
          <div class="along" aria-hidden="true">
            {dates.map(({ label }) => (
              <span>{label}</span>
            ))}
          </div>
        </div>
        <figcaption class="sub gap">{caption}</figcaption>
      </figure>
      <details class="reveal">
        <summary>Show as table</summary>
        <DataTable
          caption={title}
          showCaption
          columns={columns}
          rows={steps.toReversed().map(({ name, cells }) => ({ cells: [name, ...cells] }))}
        />
      </details>
    </>
  );
}

type PointProps = {
  step: TrendStep;
  most: number;
  isLast: boolean;
  y: TrendShape['points'][number];
};

function Point({ step: { tip, parts }, most, isLast, y }: PointProps) {
  const [score, ...facts] = tip;
  const height = (100 * sumOf(parts)) / most;
  return (
    <li class={isLast ? 'last' : y.isAlone ? 'alone' : undefined}>
      <svg aria-hidden="true">
        <line class="guide" x1="50%" x2="50%" y1="0" y2="100%" />
        {y.value === null ? null : <circle cx="50%" cy={percent(y.value)} r="5" />}
      </svg>
      <svg class="bars" aria-hidden="true">
        {spreadParts(parts, { whole: sumOf(parts), gap: 2 }).map(({ tone, from, size }) => (
          <rect
            class={tone}
            width="100%"
            y={percent(100 - ((from + size) * height) / 100)}
            height={percent((size * height) / 100)}
          />
        ))}
      </svg>
      <span class="tip">
        <b>{score}</b>
        {facts.map((fact) => (
          <span class="block">{fact}</span>
        ))}
      </span>
    </li>
  );
}

const sumOf = (parts: TrendStep['parts']) => parts.reduce((sum, { share }) => sum + share, 0);

/** A day, week or month. Without responses there is no value, and the line has a gap. */
type TrendPoint = { value: number | null; interval: Interval | null };

const stepWidth = 10;
const chartHeight = 100;
const maxTicks = 5;
/** The smallest part of the scale that is shown. On a smaller part, one point would look like a large change. */
const minPart = 0.1;

type TrendShape = ReturnType<typeof shapeTrend>;

/** SVG paths, 10 units wide for each step and 100 high. */
export function shapeTrend(points: readonly TrendPoint[], bounds: ValueBounds) {
  const ticks = ticksOf(points, bounds);
  const y = scaleLinear([ticks[0]!, ticks.at(-1)!], [chartHeight, 0]);
  const x = (step: number) => stepWidth * (step + 0.5);
  const within = (value: number) => rounded(y(Math.min(Math.max(value, ticks[0]!), ticks.at(-1)!)));

  const hasValue = ({ value }: TrendPoint) => value !== null;
  const drawLine = line<TrendPoint>()
    .defined(hasValue)
    .x((_, step) => x(step))
    .y(({ value }) => within(value!));
  // A missing interval makes the band as high as the chart.
  const drawBand = area<TrendPoint & { at: number }>()
    .defined(hasValue)
    .x(({ at }) => at)
    .y0(({ interval }) => within(interval?.low ?? -Infinity))
    .y1(({ interval }) => within(interval?.high ?? Infinity));
  return {
    width: stepWidth * Math.max(points.length, 1),
    ticks: ticks.toReversed().map((value) => ({ value, y: rounded(y(value)) })),
    line: drawLine([...points]) ?? '',
    band: drawBand(bandPoints(points, x)) ?? '',
    /** `value` is the distance from the top in percent. `isAlone` is true between two gaps of the line. */
    points: points.map(({ value }, step) => ({
      value: value === null ? null : within(value),
      isAlone: isAlone(points, step),
    })),
  };
}

function isAlone(points: readonly TrendPoint[], step: number): boolean {
  const hasValue = (at: number) => (points[at]?.value ?? null) !== null;
  return hasValue(step) && !hasValue(step - 1) && !hasValue(step + 1);
}

/** The corners of the band. A step between two gaps gets the full width of the step. */
function bandPoints(points: readonly TrendPoint[], x: (step: number) => number) {
  return points.flatMap((point, step) => {
    const places = isAlone(points, step) ? [x(step - 0.5), x(step + 0.5)] : [x(step)];
    return places.map((at) => ({ ...point, at }));
  });
}

/** Round values at even distances that include all points. */
function ticksOf(points: readonly TrendPoint[], { lowest, highest }: ValueBounds): number[] {
  const ends = points.flatMap(({ value, interval }) =>
    value === null ? [] : [value, interval?.low ?? value, interval?.high ?? value],
  );
  const [min, max] = [Math.min(...ends), Math.max(...ends)];
  const part = minPart * (highest - lowest);
  const more = Math.max(part - (max - min), 0) / 2;
  const from = Math.max(lowest, Math.min(min - more, highest - part));
  const to = Math.min(highest, Math.max(max + more, from + part));
  const scale = scaleLinear([rounded(from), rounded(to)], [0, 1]);
  for (let count = maxTicks - 1; count > 0 && ends.length > 0; count--) {
    const nice = scale.copy().nice(count);
    const [first = from, last = to] = nice.domain();
    const ticks = nice.ticks(count);
    if (ticks.length <= maxTicks && first >= lowest && last <= highest) return ticks;
  }
  return [lowest, (lowest + highest) / 2, highest];
}
