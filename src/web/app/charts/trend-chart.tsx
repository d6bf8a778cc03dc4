import type { Child } from 'hono/jsx';
import { DataTable, type TableColumn } from '../lists.tsx';
import { shapeTrend, stepWidth, type TrendPoint, type ValueBounds } from './trend-shape.ts';

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
