import type { Child } from 'hono/jsx';

export type PartOfWhole = {
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

export type FunnelStep = { name: string; count: number; figure: Child };

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
