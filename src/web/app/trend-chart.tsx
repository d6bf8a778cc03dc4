import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { Child } from 'hono/jsx';
import type { Interval } from '../../intervals.ts';
import { DataTable, type TableColumn } from './lists.tsx';

export type TrendStep = TrendPoint & {
  /** On the axis: `24 Aug`. */
  label: string;
  /** The header of its table row: `Week of 24 Aug`. */
  name: string;
  /** The other cells of its table row. */
  cells: readonly Child[];
  tooltip: string;
};

type TrendChartProps = {
  id: string;
  title: string;
  /** For screen readers. */
  description: string;
  caption: Child;
  steps: readonly TrendStep[];
  bounds: ValueBounds;
  formatTick: (value: number) => string;
  columns: readonly TableColumn[];
};

/** A line with its intervals as a band. The labels are HTML, because the SVG stretches. */
export function TrendChart(props: TrendChartProps) {
  const { id, title, description, caption, steps, bounds, formatTick, columns } = props;
  const shape = shapeTrend(steps, bounds);
  const middle = steps.length > 2 ? steps[Math.floor((steps.length - 1) / 2)] : undefined;
  const dates = [...new Set([steps[0], middle, steps.at(-1)])].filter((step) => step !== undefined);
  return (
    <>
      <figure>
        <div class="chart">
          <div class="up" aria-hidden="true">
            {shape.ticks.map(({ value }) => (
              <span>{formatTick(value)}</span>
            ))}
          </div>
          <svg
            viewBox={`0 0 ${shape.width} 100`}
            preserveAspectRatio="none"
            role="img"
            aria-labelledby={`${id}-title ${id}-words`}
          >
            <title id={`${id}-title`}>{title}</title>
            <desc id={`${id}-words`}>{description}</desc>
            <path class="grid" d={shape.ticks.map(({ y }) => `M0 ${y}H${shape.width}`).join('')} />
            {shape.ticks.some(({ value }) => value === 0) ? (
              <path
                class="grid zero"
                d={`M0 ${shape.ticks.find(({ value }) => value === 0)!.y}H${shape.width}`}
              />
            ) : null}
            <path class="band" d={shape.band} />
            <path class="line" d={shape.line} />
            <path class="dots" d={shape.dots} />
            <path class="dots last" d={shape.lastDot} />
            {steps.map(({ tooltip }, at) => (
              <rect class="hit" x={at * stepWidth} y="0" width={stepWidth} height="100">
                <title>{tooltip}</title>
              </rect>
            ))}
          </svg>
          <div class="along" aria-hidden="true">
            {dates.map(({ label }) => (
              <span>{label}</span>
            ))}
          </div>
        </div>
        <figcaption class="small soft">{caption}</figcaption>
      </figure>
      <NumbersTable caption={title} columns={columns} steps={steps} />
    </>
  );
}

type NumbersProps = Pick<TrendChartProps, 'columns'> & {
  caption: string;
  steps: readonly Pick<TrendStep, 'name' | 'cells'>[];
};

/** The numbers of a chart, newest first. */
export function NumbersTable({ caption, columns, steps }: NumbersProps) {
  return (
    <details class="reveal">
      <summary>Show as table</summary>
      <DataTable
        caption={caption}
        showCaption
        columns={columns}
        rows={steps.toReversed().map(({ name, cells }) => ({ cells: [name, ...cells] }))}
      />
    </details>
  );
}

/** A day, week or month. Without responses there is no value, and the line has a gap. */
type TrendPoint = { value: number | null; interval: Interval | null };

type ValueBounds = { lowest: number; highest: number };

const stepWidth = 10;
const chartHeight = 100;
/** More dots than this would look like a second line. */
const maxDots = 60;
const maxTicks = 5;
/** The smallest shown part of the scale. On a smaller one, a single point looks like a change. */
const minPart = 0.1;

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
  // Without an interval the band is as high as the chart.
  const drawBand = area<TrendPoint & { at: number }>()
    .defined(hasValue)
    .x(({ at }) => at)
    .y0(({ interval }) => within(interval?.low ?? -Infinity))
    .y1(({ interval }) => within(interval?.high ?? Infinity));

  const dots = points.flatMap((point, step) =>
    hasValue(point) ? [`M${x(step)} ${within(point.value!)}h0`] : [],
  );
  return {
    width: stepWidth * Math.max(points.length, 1),
    ticks: ticks.toReversed().map((value) => ({ value, y: rounded(y(value)) })),
    line: drawLine([...points]) ?? '',
    band: drawBand(bandPoints(points, x)) ?? '',
    // Strokes without length: round line caps turn them into dots.
    dots: dots.length > maxDots ? '' : dots.join(''),
    lastDot: dots.at(-1) ?? '',
  };
}

/** The corners of the band. A step between two gaps gets the full width of the step. */
function bandPoints(points: readonly TrendPoint[], x: (step: number) => number) {
  const hasValue = (step: number) => (points[step]?.value ?? null) !== null;
  return points.flatMap((point, step) => {
    const isAlone = !hasValue(step - 1) && !hasValue(step + 1);
    const places = isAlone ? [x(step - 0.5), x(step + 0.5)] : [x(step)];
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

const rounded = (value: number) => Math.round(value * 100) / 100;

type PartOfWhole = {
  /** Sets colour and shape: `promoter`, `fine`. */
  kind: string;
  name: string;
  share: number;
  figure: Child;
  remark?: Child;
  href?: string | undefined;
};

const gap = 0.4;

type StackedBarProps = { parts: readonly Pick<PartOfWhole, 'kind' | 'share'>[] };

/** Decorative: the numbers must be in the text beside it. */
export function StackedBar({ parts }: StackedBarProps) {
  const whole = parts.reduce((sum, { share }) => sum + share, 0);
  const seen = parts.filter(({ share }) => share > 0);
  const room = 100 - gap * Math.max(seen.length - 1, 0);
  let start = 0;
  return (
    <svg class="bar" aria-hidden="true">
      {seen.map(({ kind, share }) => {
        const x = percent(start);
        const width = (share / whole) * room;
        start += width + gap;
        return <rect class={`is-${kind}`} x={x} width={percent(width)} height="100%" />;
      })}
    </svg>
  );
}

/** A stacked bar with a legend. */
export function PartsBar({ parts }: { parts: readonly PartOfWhole[] }) {
  return (
    <>
      <StackedBar parts={parts} />
      <dl class="sums">
        {parts.map(({ kind, name, figure, remark, href }) => (
          <div>
            <dt class={`is-${kind}`}>{href ? <a href={href}>{name}</a> : name}</dt>
            <dd>
              {figure} {remark ? <small>{remark}</small> : null}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

type FunnelProps = { steps: readonly { name: string; count: number; figure: Child }[] };

/** Bars as shares of the first step. */
export function Funnel({ steps }: FunnelProps) {
  const whole = steps[0]?.count ?? 0;
  return (
    <dl class="funnel">
      {steps.map(({ name, count, figure }) => (
        <div>
          <dt>{name}</dt>
          <dd>{figure}</dd>
          <dd class="drawn" aria-hidden="true">
            <svg class="meter" aria-hidden="true">
              <rect width={percent(whole === 0 ? 0 : (100 * count) / whole)} height="100%" />
            </svg>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const percent = (value: number) => `${Math.round(value * 100) / 100}%`;
