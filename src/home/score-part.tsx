import { lazily } from '../lib/async/lazily.ts';
import type { NpsTrendRow } from '../responses/nps.ts';
import { percentage, type SurveyType, type Tally } from '../scores.ts';
import { PartsBar } from '../web/app/charts/parts.tsx';
import { TrendChart, type TrendStep } from '../web/app/charts/trend-chart.tsx';
import { count, counted } from '../web/app/lists.tsx';
import type { ScopeQuery } from './choice.rules.ts';
import { boundsOf, type Change, type Measured } from './measure.rules.ts';
import type { HomePeriod } from './period.rules.ts';
import { withQuery } from './period-choice.tsx';
import { homeTexts } from './screen-texts.ts';

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
  const { lead, rest } = homeTexts.meaning({ type, change, now, before, period });
  return (
    <section class="columns score" aria-labelledby="score">
      <div>
        <h2 id="score">{homeTexts.numberOf(type)}</h2>
        <p class="small soft">
          {longDay(period.from)} to {longDay(period.to)}
        </p>
        {now.value === null ? (
          <p class="now">
            <span>{homeTexts.noAnswers(period)}</span>
          </p>
        ) : (
          <>
            <p class="now">
              <strong>{homeTexts.value(type, now.value)}</strong>{' '}
              {now.margin === null ? null : (
                <span>
                  {homeTexts.margin(type, now.margin)}
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
  const name = homeTexts.numberOf(type);
  const title = `${name} ${homeTexts.steps[period.interval]}`;
  if (known.length === 0) return null;
  const first = known[0]!;
  const last = known.at(-1)!;
  const hasOne = known.some(({ measured }) => measured.margin === null);
  const band = hasOne ? `${homeTexts.bandCaption} ${homeTexts.bandOfOne}` : homeTexts.bandCaption;
  const values = known.map(({ measured }) => measured.value!);
  const description =
    `From ${homeTexts.value(type, first.measured.value!)} (${stepName(first.start, period)}) to ` +
    `${homeTexts.value(type, last.measured.value!)} (${stepName(last.start, period)}), ` +
    `lowest ${homeTexts.value(type, Math.min(...values))}, highest ${homeTexts.value(type, Math.max(...values))}.`;
  return (
    <TrendChart
      id="trend"
      title={title}
      description={description}
      caption={`${name} ${homeTexts.steps[period.interval]}. ${band} Days in ${timeZone}.`}
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
  const score = value === null ? '–' : homeTexts.value(type, value);
  const sure = margin === null ? '–' : homeTexts.margin(type, margin);
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
  `${homeTexts.stepName[interval]}${shortDay(start, interval)}`;

const tick = (type: SurveyType, value: number) => homeTexts.value(type, value).replace(/\.00$/, '');

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
