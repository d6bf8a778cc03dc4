import { lazily } from '../lib/async/lazily.ts';
import type { NpsTrendRow } from '../responses/nps.ts';
import { percentage, type SurveyType, signedNps, type Tally } from '../scores.ts';
import { PartsBar } from '../web/app/charts/parts.tsx';
import { TrendChart, type TrendStep } from '../web/app/charts/trend-chart.tsx';
import { count, counted } from '../web/app/lists.tsx';
import type { ScopeQuery } from './choice.rules.ts';
import {
  boundsOf,
  type Change,
  type Measured,
  type MeasureKind,
  measureKinds,
} from './measure.rules.ts';
import type { HomePeriod } from './period.rules.ts';
import { withQuery } from './period-choice.tsx';

const stepsTexts = { day: 'by day', week: 'by week', month: 'by month' } as const;

const bandCaption = 'The band is the margin of error (95%).';

const stepNameTexts = { day: '', week: 'Week of ', month: '' } as const;

export type ScoreProps = {
  type: SurveyType;
  period: HomePeriod;
  timeZone: string;
  now: Measured;
  before: Measured;
  change: Change | null;
  tally: Tally;
  steps: readonly (NpsTrendRow & { measured: Measured })[];
  /** Where the responses of the period are. */
  responses: ResponsesPlace;
};

export type ResponsesPlace = {
  path: string;
  scope: ScopeQuery;
  period: Pick<HomePeriod, 'from' | 'to'>;
};

/** The address of the responses in the period, or of those of a category. */
export const responsesOf = ({ path, scope, period }: ResponsesPlace, category?: string) =>
  withQuery(path, { ...scope, category, date_from: period.from, date_to: period.to });

/** The number, how sure it is, what it means, and how it came about. */
export function ScorePart(props: ScoreProps) {
  const { type, period, now, before, change } = props;
  const { lead, rest } = meaning({ type, change, now, before, period });
  return (
    <section class="columns score" aria-labelledby="score">
      <div>
        <h2 id="score">{numberOf(type)}</h2>
        <p class="small soft">
          {longDay(period.from)} to {longDay(period.to)}
        </p>
        {now.value === null ? (
          <p class="now">
            <span>{noAnswers(period)}</span>
          </p>
        ) : (
          <>
            <p class="now">
              <strong>{formatValue(type, now.value)}</strong>{' '}
              {now.margin === null ? null : (
                <span>
                  {formatMargin(type, now.margin)}
                  <span class="hidden"> margin of error</span>
                </span>
              )}
            </p>
            <p>
              <Lead lead={lead} change={change} />
              {rest}
            </p>
            <p class="small soft">{counted(now.total, 'response')}</p>
          </>
        )}
        {now.total === 0 ? null : <Categories {...props} />}
      </div>
      <div>
        <Trend {...props} />
      </div>
    </section>
  );
}

/** A change that is more than chance has a colour and a shape; any other is ink. */
function Lead({ lead, change }: { lead: string; change: Change | null }) {
  if (change?.meaning === 'better') return <span class="state is-promoter">{lead}</span>;
  if (change?.meaning === 'worse') return <span class="state is-detractor">{lead}</span>;
  return lead === '' ? null : <strong>{lead}</strong>;
}

function Categories({ tally: { promoters, passives, detractors }, type, responses }: ScoreProps) {
  const total = promoters + passives + detractors;
  const parts = [
    { kind: 'promoter', name: 'Promoters', share: promoters },
    { kind: 'passive', name: 'Passives', share: passives },
    { kind: 'detractor', name: 'Detractors', share: detractors },
  ] as const;
  const shown = parts.filter(({ kind }) => type !== 'thumbs' || kind !== 'passive');
  return (
    <PartsBar
      parts={shown.map((part) => ({
        ...part,
        figure: `${percentage(part.share, total)}%`,
        remark: count(part.share),
        href: responsesOf(responses, part.kind),
      }))}
    />
  );
}

type TrendProps = Pick<ScoreProps, 'type' | 'period' | 'timeZone' | 'steps'>;

export function Trend({ type, period, timeZone, steps }: TrendProps) {
  const known = steps.filter(({ measured }) => measured.value !== null);
  const name = numberOf(type);
  const title = `${name} ${stepsTexts[period.interval]}`;
  if (known.length === 0) return null;
  const first = known[0]!;
  const last = known.at(-1)!;
  const hasOne = known.some(({ measured }) => measured.margin === null);
  const band = hasOne
    ? `${bandCaption} One response has none: there the band is as high as the drawing.`
    : bandCaption;
  const values = known.map(({ measured }) => measured.value!);
  const description =
    `From ${formatValue(type, first.measured.value!)} (${stepName(first.start, period)}) to ` +
    `${formatValue(type, last.measured.value!)} (${stepName(last.start, period)}), ` +
    `lowest ${formatValue(type, Math.min(...values))}, highest ${formatValue(type, Math.max(...values))}.`;
  return (
    <TrendChart
      id="trend"
      title={title}
      description={description}
      caption={`${name} ${stepsTexts[period.interval]}. ${band} Days in ${timeZone}.`}
      bounds={boundsOf(type)}
      formatTick={(value) => tick(type, value)}
      steps={steps.map((step) => shownStep(step, { type, period }))}
      columns={[
        {
          head:
            period.interval === 'week' ? 'Week of' : period.interval === 'day' ? 'Day' : 'Month',
        },
        { head: 'Score', number: true },
        { head: 'Margin', number: true },
        { head: 'Promoters', number: true },
        { head: 'Passives', number: true },
        { head: 'Detractors', number: true },
        { head: 'Responses', number: true },
      ]}
    />
  );
}

type Shown = Pick<ScoreProps, 'type' | 'period'>;

function shownStep(step: ScoreProps['steps'][number], { type, period }: Shown): TrendStep {
  const { value, margin, total } = step.measured;
  const score = value === null ? '–' : formatValue(type, value);
  const sure = margin === null ? '–' : formatMargin(type, margin);
  const name = stepName(step.start, period);
  return {
    value,
    margin,
    name,
    label: shortDay(step.start, period.interval),
    cells: [
      score,
      sure,
      count(step.promoters),
      count(step.passives),
      count(step.detractors),
      count(total),
    ],
    words:
      value === null
        ? `${name}: no responses`
        : `${name}: ${score}${margin === null ? '' : ` ${sure}`}, ${counted(total, 'response')}`,
  };
}

const stepName = (start: string, { interval }: HomePeriod) =>
  `${stepNameTexts[interval]}${shortDay(start, interval)}`;

const tick = (type: SurveyType, value: number) => formatValue(type, value).replace(/\.00$/, '');

const inUtc = (options: Intl.DateTimeFormatOptions) =>
  lazily(() => new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }));
const dayAndMonth = inUtc({ day: 'numeric', month: 'short' });
const monthAndYear = inUtc({ month: 'short', year: 'numeric' });
const whole = inUtc({ day: 'numeric', month: 'long', year: 'numeric' });

const shortDay = (day: string, interval: HomePeriod['interval']) =>
  (interval === 'month' ? monthAndYear : dayAndMonth)().format(new Date(`${day}T00:00:00Z`));

function longDay(day: string) {
  return <time datetime={day}>{whole().format(new Date(`${day}T00:00:00Z`))}</time>;
}

/** What the number of a scale is called. */
const numbers: Record<SurveyType, string> = {
  nps: 'Net Promoter Score',
  csat: 'Satisfied (4 or 5 of 5)',
  ces: 'Ease of 7',
  star5: 'Stars of 5',
  thumbs: 'Thumbs up',
};

const kinds: Record<SurveyType, string> = {
  nps: 'Net Promoter Score',
  csat: 'Satisfaction',
  ces: 'Ease',
  star5: 'Stars',
  thumbs: 'Thumbs',
};

/** As it stands alone: +51, 65.3%, 4.31. */
export function formatValue(type: SurveyType, value: number): string {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'mean') return value.toFixed(2);
  return kind === 'share' ? `${value}%` : signedNps(value);
}

export function formatMargin(type: SurveyType, margin: number): string {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'mean') return `± ${margin.toFixed(2)}`;
  return kind === 'share' ? `± ${margin}%` : `± ${margin}`;
}

function inPeriod({ name, days }: HomePeriod): string {
  return name === 'custom' ? 'on these days' : `in the last ${days} days`;
}

type Meaning = {
  type: SurveyType;
  change: Change | null;
  now: Measured;
  before: Measured;
  period: HomePeriod;
};

/** What a change means, in words that say no more than the figures do. */
export function meaning({ type, change, now, before, period }: Meaning): {
  lead: string;
  rest: string;
} {
  const earlier = `the ${counted(period.days, 'day')} before`;
  if (change === null || before.value === null) {
    return { lead: '', rest: `There are no responses in ${earlier} to compare with.` };
  }
  const was = `${formatValue(type, before.value)} in ${earlier}`;
  if (change.by === 0) return { lead: 'Unchanged', rest: ` from ${was}.` };
  const lead = `${change.by > 0 ? 'Up' : 'Down'} ${points(type, Math.abs(change.by))}`;
  const margin = formatMargin(type, change.margin);
  const total = Math.min(now.total, before.total);
  const why = {
    none: '',
    few: `${counted(total, 'response')}: too few to call this a change.`,
    chance: `The change is within its margin of error (${margin}), so it may be chance.`,
    better: `That is more than its margin of error (${margin}): better than before.`,
    worse: `That is more than its margin of error (${margin}): worse than before.`,
  }[change.meaning];
  return { lead, rest: ` from ${was}. ${why}` };
}

function points(type: SurveyType, by: number): string {
  const kind: MeasureKind = measureKinds[type];
  if (kind === 'mean') return by.toFixed(2);
  return `${by} ${by === 1 ? 'point' : 'points'}`;
}

export const numberOf = (type: SurveyType) => numbers[type];

const noAnswers = (period: HomePeriod) => `No responses ${inPeriod(period)}`;

export const kindOf = (type: SurveyType, audience: 'employee' | 'customer' | null) =>
  audience === null
    ? kinds[type]
    : `${kinds[type]}, ${audience === 'employee' ? 'employees' : 'customers'}`;
