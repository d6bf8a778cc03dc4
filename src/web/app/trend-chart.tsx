import { scaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import type { Child } from 'hono/jsx';
import { DataTable, type TableColumn } from './lists.tsx';

export type TrendStep = TrendPoint & {
  /** Below the drawing: `24 Aug`. */
  label: string;
  /** On hover, and as the head of its row: `Week of 24 Aug`. */
  name: string;
  /** The row of the table behind the drawing, after its head. */
  cells: readonly Child[];
  /** What hovering says. */
  words: string;
};

type TrendChartProps = {
  /** Unique on the page. */
  id: string;
  title: string;
  /** The trend in a sentence, for readers who do not see it. */
  description: string;
  caption: Child;
  steps: readonly TrendStep[];
  bounds: ValueBounds;
  formatTick: (value: number) => string;
  /** The columns of the table, the first of which heads its rows. */
  columns: readonly TableColumn[];
};

/** A line with its margin as a band, drawn here; the words around it are HTML and keep their size. */
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
            {steps.map(({ words }, at) => (
              <rect class="hit" x={at * stepWidth} y="0" width={stepWidth} height="100">
                <title>{words}</title>
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

type NumbersProps = {
  caption: string;
  columns: readonly TableColumn[];
  steps: readonly Pick<TrendStep, 'name' | 'cells'>[];
};

/** The numbers behind a drawing, newest first. */
export function NumbersTable({ caption, columns, steps }: NumbersProps) {
  return (
    <details class="reveal">
      <summary>The numbers as a table</summary>
      <DataTable
        caption={caption}
        showCaption
        columns={columns}
        rows={steps.toReversed().map(({ name, cells }) => ({ cells: [name, ...cells] }))}
      />
    </details>
  );
}

/** One step of a trend: a day, a week or a month. Without answers it has no value, and the line breaks. */
type TrendPoint = { value: number | null; margin: number | null };

type ValueBounds = { lowest: number; highest: number };

/** Geometry in units of the drawing: 10 wide for each step, 100 high. */
type TrendShape = {
  width: number;
  ticks: readonly { value: number; y: number }[];
  line: string;
  band: string;
  /** The points as strokes without length, which round ends turn into dots. */
  dots: string;
  lastDot: string;
};

const stepWidth = 10;
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

type PartOfWhole = {
  /** What it means, which gives it its colour and shape: `promoter`, `fine`. */
  kind: string;
  name: string;
  /** Of all parts together. */
  share: number;
  figure: Child;
  remark?: Child;
  href?: string | undefined;
};

const gap = 0.4;

/** Parts of one whole: a bar, and each part with its name and figure below. */
export function PartsBar({ parts }: { parts: readonly PartOfWhole[] }) {
  const whole = parts.reduce((sum, { share }) => sum + share, 0);
  const seen = parts.filter(({ share }) => share > 0);
  const room = 100 - gap * Math.max(seen.length - 1, 0);
  let start = 0;
  const bars = seen.map(({ kind, share }) => {
    const width = (share / whole) * room;
    const bar = (
      <rect class={`is-${kind}`} x={percent(start)} width={percent(width)} height="100%" />
    );
    start += width + gap;
    return bar;
  });
  return (
    <>
      <svg class="bar" aria-hidden="true">
        {bars}
      </svg>
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

type FunnelStep = { name: string; count: number; figure: Child };

/** Shares of the same whole, which is the first step. */
export function Funnel({ steps }: { steps: readonly FunnelStep[] }) {
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
