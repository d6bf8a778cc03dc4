import type { Child } from 'hono/jsx';
import type { Interval } from '../../intervals.ts';

/** The lowest and the highest value of a scale. */
export type ValueBounds = { lowest: number; highest: number };

type GaugeProps = {
  /** Null without responses. */
  value: number | null;
  interval: Interval | null;
  /** The interval as text. */
  range: string | null;
  bounds: ValueBounds;
  format: (value: number) => string;
  /** Label of the number. */
  label: string;
};

const radius = 100;
const center = { x: 120, y: 116 };

/** A half circle: solid up to the value, with a dot there and the interval as a band over it. */
export function Gauge({ value, interval, range, bounds, format, label }: GaugeProps) {
  const { lowest, highest } = bounds;
  const { low, high } = interval ?? { low: value ?? lowest, high: value ?? lowest };
  const words = `${label} ${value === null ? 'without responses' : format(value)}`;
  const score = value === null ? '–' : format(value);
  const at = (each: number) => pointAt((each - lowest) / (highest - lowest));
  const arc = (from: number, to: number) => `M${at(from)}A${radius} ${radius} 0 0 1 ${at(to)}`;
  const dot = at(value ?? lowest).split(' ');
  return (
    <svg
      class={value === null ? 'gauge ghost' : 'gauge'}
      viewBox="0 0 240 150"
      role="img"
      aria-label={range === null ? words : `${words}, 95% interval ${range}`}
    >
      <path class="track" d={arc(lowest, highest)} />
      {value !== null && value > lowest ? <path class="sure" d={arc(lowest, value)} /> : null}
      {high > low ? <path class="maybe" d={arc(low, high)} /> : null}
      {value === null ? null : <circle cx={dot[0]} cy={dot[1]} r="6.5" />}
      <text class="score" x="120" y="112" font-size={Math.min(54, 200 / score.length)}>
        {score}
      </text>
      <text x="20" y="142">
        {format(lowest)}
      </text>
      <text x="220" y="142">
        {format(highest)}
      </text>
      <text x="120" y="142">
        {range === null ? null : `95%: ${range}`}
      </text>
    </svg>
  );
}

function pointAt(share: number): string {
  const angle = Math.PI * (1 - Math.min(Math.max(share, 0), 1));
  const x = center.x + radius * Math.cos(angle);
  const y = center.y - radius * Math.sin(angle);
  return `${rounded(x)} ${rounded(y)}`;
}

type RangeProps = {
  value: number;
  interval: Interval | null;
  bounds: ValueBounds;
  /** Sets the colour: `is-good`. */
  tone?: string | undefined;
};

/** A dot and its interval on the scale, with a mark in the middle. Decorative. */
export function Range({ value, interval, bounds: { lowest, highest }, tone }: RangeProps) {
  const x = (each: number) => percent((100 * (each - lowest)) / (highest - lowest));
  return (
    <svg class={tone ? `range ${tone}` : 'range'} aria-hidden="true">
      <line class="axis" x1="0" x2="100%" y1="50%" y2="50%" />
      <line class="zero" x1="50%" x2="50%" y1="1" y2="15" />
      {interval === null ? null : (
        <line class="span" x1={x(interval.low)} x2={x(interval.high)} y1="50%" y2="50%" />
      )}
      <circle cx={x(value)} cy="50%" r="5" />
    </svg>
  );
}

export type PartOfWhole = {
  /** Sets colour and shape: `is-promoter`. */
  tone: string;
  name: string;
  share: number;
  figure: Child;
  remark?: Child;
  href?: string | undefined;
};

type StackedBarProps = { parts: readonly Pick<PartOfWhole, 'tone' | 'share'>[] };

/** Decorative: the numbers must be in the text beside it. */
export function StackedBar({ parts }: StackedBarProps) {
  const whole = parts.reduce((sum, { share }) => sum + share, 0);
  return (
    <svg class="bar" aria-hidden="true">
      {spreadParts(parts, { whole, gap: 0.4 }).map(({ tone, from, size }) => (
        <rect class={tone} x={percent(from)} width={percent(size)} height="100%" />
      ))}
    </svg>
  );
}

/** Places the parts one after the other, in percent of the whole. */
export function spreadParts(
  parts: readonly Pick<PartOfWhole, 'tone' | 'share'>[],
  { whole, gap }: { whole: number; gap: number },
) {
  const shown = parts.filter(({ share }) => share > 0);
  const room = 100 - gap * Math.max(shown.length - 1, 0);
  let from = 0;
  return shown.map(({ tone, share }) => {
    const part = { tone, from, size: (share / whole) * room };
    from += part.size + gap;
    return part;
  });
}

/** A stacked bar with a legend. */
export function PartsBar({ parts }: { parts: readonly PartOfWhole[] }) {
  return (
    <>
      <StackedBar parts={parts} />
      <dl class="split3">
        {parts.map(({ tone, name, figure, remark, href }) => (
          <div>
            <dt class={`key ${tone}`}>{href ? <a href={href}>{name}</a> : name}</dt>
            <dd>
              {figure} {remark ? <small>{remark}</small> : null}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

type FunnelProps = {
  steps: readonly { name: Child; count: Child; share?: Child; bar: Child }[];
};

/** A row for each step: name, count, share and a bar below. */
export const Funnel = ({ steps }: FunnelProps) => (
  <ul class="funnel">
    {steps.map(({ name, count, share, bar }) => (
      <li>
        <span>{name}</span>
        <b class="num">{count}</b>
        <span class="soft num">{share}</span>
        {bar}
      </li>
    ))}
  </ul>
);

/** A bar of one colour. Decorative. */
export const Bar = ({ part, whole, tone }: { part: number; whole: number; tone?: string }) => (
  <svg class={tone ? `bar thin ${tone}` : 'bar thin'} aria-hidden="true">
    <rect width={percent(whole === 0 ? 0 : (100 * part) / whole)} height="100%" />
  </svg>
);

type HistogramProps = {
  columns: readonly { tone: string; label: Child; count: number; text: string; about: string }[];
};

/** A column for each score, with its count above. */
export function Histogram({ columns }: HistogramProps) {
  const most = Math.max(1, ...columns.map(({ count }) => count));
  return (
    <ol class="histogram">
      {columns.map(({ tone, label, count, text, about }) => {
        const height = (highestColumn * count) / most;
        const top = percent(100 - height);
        return (
          <li class={tone}>
            <svg role="img" aria-label={about}>
              <rect width="100%" y={top} height={percent(height)} rx="4" />
              <text x="50%" y={top} dy="-6">
                {text}
              </text>
            </svg>
            <b>{label}</b>
          </li>
        );
      })}
    </ol>
  );
}

/** Leaves room for the count. */
const highestColumn = 90;

type ScatterProps = {
  /** The most mentioned first. */
  items: readonly { name: string; value: number; count: number; tone: string }[];
  bounds: ValueBounds;
  format: (value: number) => string;
  /** The name of the number on the axis. */
  axis: string;
  label: string;
};

/**
 * Plots the value across and mentions upwards, so that the upper left shows what to fix first. The largest circles are
 * labelled.
 */
export function Scatter({ items, bounds, format, axis, label }: ScatterProps) {
  const { lowest, middle, highest } = shownPart(items, bounds);
  const across = (value: number) => 4 + (92 * (value - lowest)) / (highest - lowest);
  const mid = percent(across(middle));
  return (
    <svg class="scatter" role="img" aria-label={label}>
      <rect class="is-poor" width={mid} height="100%" />
      <rect class="is-good" x={mid} width={percent(100 - across(middle))} height="100%" />
      <line x1="0" x2="100%" y1="100%" y2="100%" />
      <line class="mid" x1={mid} x2={mid} y1="0" y2="100%" />
      <text class="axis start" x="8" y="20">
        Fix first
      </text>
      <text class="axis end" x="100%" dx="-8" y="20">
        Keep doing
      </text>
      <text class="axis end" transform="rotate(-90)" x="-36" y="18">
        Mentions
      </text>
      <text class="axis start" y="100%" dy="22">
        {axis} {format(lowest)}
      </text>
      <text class="axis" x={mid} y="100%" dy="22">
        {format(middle)}
      </text>
      <text class="axis end" x="100%" y="100%" dy="22">
        {format(highest)}
      </text>
      {placeCircles(items, across).map(({ name, tone, x, y, radius, labelAt }) => (
        <>
          <circle class={tone} cx={percent(x)} cy={percent(y)} r={radius} />
          {labelAt === null ? null : (
            <text
              class={labelAt.anchor}
              x={percent(x)}
              y={percent(y)}
              dx={labelAt.dx}
              dy={labelAt.dy}
            >
              {name}
            </text>
          )}
        </>
      ))}
    </svg>
  );
}

/** The part of the scale with all values and its middle, in round numbers. */
function shownPart(items: ScatterProps['items'], { lowest, highest }: ValueBounds) {
  const middle = (lowest + highest) / 2;
  const step = highest - lowest < 100 ? 1 : 25;
  const values = items.map(({ value }) => value / step);
  return {
    lowest: step * Math.floor(Math.min(middle / step - 1, ...values)),
    middle,
    highest: step * Math.ceil(Math.max(middle / step + 1, ...values)),
  };
}

const maxRadius = 16;
const minRadius = 7;
/** The size of the drawing on a phone in pixels, to keep names apart. Where it is wider, they are further apart. */
const scatterSize = { width: 290, height: 300, margin: 10, letter: 7.5, line: 16 };

/**
 * Sizes circles by the root of their count. A name is above its circle, below or beside it, and left out where it would
 * cover another name or circle.
 */
function placeCircles(items: ScatterProps['items'], across: (value: number) => number) {
  const counts = items.map(({ count }) => count);
  const [least, most] = [Math.min(...counts), Math.max(1, ...counts)];
  const { width, height, margin, letter, line } = scatterSize;
  const taken: { left: number; right: number; top: number; bottom: number }[] = [];
  return items.map(({ name, value, count, tone }) => {
    const share = count / most;
    const x = across(value);
    const y = 88 - (68 * (count - least)) / Math.max(1, most - least);
    const radius = Math.round(Math.max(minRadius, maxRadius * Math.sqrt(share)));
    const anchor = x < 12 ? 'start' : x > 88 ? 'end' : undefined;
    const long = name.length * letter;
    const [cx, cy] = [(x * width) / 100, (y * height) / 100];
    const places = [
      { anchor, dx: 0, dy: -(radius + 6) },
      { anchor, dx: 0, dy: radius + 15 },
      { anchor: 'start', dx: radius + 5, dy: 4 },
      { anchor: 'end', dx: -(radius + 5), dy: 4 },
    ].map((place) => {
      const share = { start: 0, end: 1 }[place.anchor ?? ''] ?? 0.5;
      const [left, base] = [cx + place.dx - share * long, cy + place.dy];
      return { ...place, left, right: left + long, top: base - line, bottom: base + 4 };
    });
    const labelAt = places.find(
      (box) =>
        box.left >= -margin &&
        box.right <= width + margin &&
        taken.every(
          (other) =>
            box.right < other.left ||
            box.left > other.right ||
            box.bottom < other.top ||
            box.top > other.bottom,
        ),
    );
    taken.push({ left: cx - radius, right: cx + radius, top: cy - radius, bottom: cy + radius });
    if (labelAt) taken.push(labelAt);
    return { name, tone, x, y, radius, labelAt: labelAt ?? null };
  });
}

export const rounded = (value: number) => Math.round(value * 100) / 100;

export const percent = (value: number) => `${rounded(value)}%`;
