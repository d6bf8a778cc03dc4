import type { Child } from 'hono/jsx';
import { lazily } from '../lib/async/memoize.ts';
import type { Db } from '../lib/db/db.ts';
import { addDays } from '../responses/period.ts';
import {
  formatMargin,
  formatValue,
  type Measured,
  percentage,
  type SurveyType,
  typeFacts,
} from '../survey-types.ts';
import type { FormState } from '../web/app/forms.tsx';
import { count, counted, DataTable } from '../web/app/lists.tsx';
import { PartsBar, TrendChart, type TrendStep } from '../web/app/trend-chart.tsx';
import { readTrendFigures, type TrendFigures } from './figures.ts';
import { AskedPart, PropertyChoice, withQuery } from './parts.tsx';
import { findAnsweredDays } from './queries.ts';
import {
  boundsOf,
  type Change,
  choosePeriod,
  type HomePeriod,
  type HomeScope,
  maxDays,
  propertyParameter,
  type ScopeQuery,
  scopeQuery,
} from './rules.ts';
import { type Comparison, sampledResponses } from './segments.ts';

type SegmentsProps = {
  path: string;
  scope: HomeScope;
  period: Readonly<Record<string, string>>;
  /** Null until it is asked for. */
  comparison: Comparison | null;
  form: FormState;
};

/** The number for each value of a property, such as a plan or a country. */
export function SegmentsPart({ path, scope, period, comparison, form }: SegmentsProps) {
  const asked = { ...scopeQuery(scope), ...period };
  const here = withQuery(path, asked);
  const linkTo = (name: string) => `${here}&compare=${encodeURIComponent(name)}#compare`;
  const { names = [], by = null, segments = [] } = comparison ?? {};
  const offered = names.filter((name) => !(propertyParameter(name) in scope.properties));
  return (
    <section class="part" id="compare" aria-labelledby="compare-heading">
      <div class="title">
        <h2 id="compare-heading">By property</h2>
        <PropertyChoice path={path} stays={asked} form={form} />
      </div>
      {offered.length === 0 ? null : (
        <nav aria-label="Choose a property">
          <ul class="actions">
            {offered.map((name) => (
              <li>
                {name === by ? (
                  <strong>
                    by <bdi>{name}</bdi>
                  </strong>
                ) : (
                  <a href={linkTo(name)}>
                    by <bdi>{name}</bdi>
                  </a>
                )}
              </li>
            ))}
          </ul>
        </nav>
      )}
      {by !== null ? (
        <Segments {...{ path, asked, by, segments }} type={scope.type} />
      ) : (
        <p class="soft">
          {comparison && offered.length === 0
            ? 'No contact of these responses has a property.'
            : 'The score of each value of a property of contacts: by plan, by country.'}{' '}
          {comparison ? null : <a href={linkTo('')}>Choose a property</a>}
        </p>
      )}
    </section>
  );
}

type TableProps = {
  path: string;
  asked: Readonly<Record<string, string | undefined>>;
  type: SurveyType;
  by: string;
  segments: Comparison['segments'];
};

function Segments({ path, asked, type, by, segments }: TableProps) {
  if (segments.length === 0)
    return <p class="soft">No response of this period has this property.</p>;
  return (
    <>
      <DataTable
        caption={`${typeFacts(type).number} by ${by}`}
        nowrap
        columns={[
          { head: by },
          ...numberColumns('Score', 'Margin', 'Promoters', 'Detractors', 'Responses'),
        ]}
        rows={segments.map(({ value, measured, counted }) => {
          const { total } = measured;
          const share = (part: number) => (total === 0 ? '–' : `${percentage(part, total)}%`);
          return {
            cells: [
              <a href={withQuery(path, { ...asked, [propertyParameter(by)]: value })}>
                <bdi>{value}</bdi>
              </a>,
              ...textsOf(type, measured),
              share(counted.promoters),
              share(counted.detractors),
              count(total),
            ],
          };
        })}
      />
      <p class="small soft">
        The most frequent values among the newest {count(sampledResponses)} responses.
      </p>
    </>
  );
}

const numberColumns = (...heads: string[]) => heads.map((head) => ({ head, number: true }));

/** The value and its margin. */
const textsOf = (type: SurveyType, { value, margin }: Measured) => [
  value === null ? '–' : formatValue(type, value),
  margin === null ? '–' : formatMargin(type, margin),
];

type TrendOfSurvey = {
  orgId: string;
  survey: { id: string; name: string; type: SurveyType; audience: 'employee' | null };
  period: string | null;
};

/** The trend of one survey with its margin as a band, and how many were asked and answered: as Home shows them. */
export async function surveyTrend(
  db: Db,
  { orgId, survey, period: name }: TrendOfSurvey,
): Promise<Child> {
  const days = await findAnsweredDays(db, orgId, survey.id);
  if (!days?.first_day) return null;
  const { today, time_zone: timeZone, first_day } = days;
  const earliest = addDays(today, 1 - maxDays);
  const date_from = first_day > earliest ? first_day : earliest;
  const asked = name ? { period: name } : { date_from, date_to: today };
  const period = choosePeriod(asked, today);
  if ('errors' in period) return null;
  const { type, audience } = survey;
  const scope = { survey: { ...survey, responses: 0 }, type, audience, properties: {} };
  const { steps, asked: counts } = await readTrendFigures(db, orgId, { scope, period, timeZone });
  return (
    <div class="columns score part">
      {counts === null ? null : <AskedPart asked={counts} />}
      <section aria-labelledby="trend-heading">
        <div class="title">
          <h2 id="trend-heading">Over time</h2>
        </div>
        <Trend {...{ type, period, timeZone, steps }} />
      </section>
    </div>
  );
}

const stepsTexts = { day: 'by day', week: 'by week', month: 'by month' } as const;

const stepNameTexts = { day: '', week: 'Week of ', month: '' } as const;

type ScoreProps = Omit<TrendFigures, 'asked'> & {
  type: SurveyType;
  period: HomePeriod;
  timeZone: string;
  responses: ResponsesPlace;
};

type ResponsesPlace = {
  path: string;
  scope: ScopeQuery;
  period: Pick<HomePeriod, 'from' | 'to'>;
};

export const responsesOf = ({ path, scope, period }: ResponsesPlace, category?: string) =>
  withQuery(path, { ...scope, category, date_from: period.from, date_to: period.to });

export function ScorePart(props: ScoreProps) {
  const { type, period, now, before, change } = props;
  const { lead, rest } = meaning({ type, change, now, before, period });
  return (
    <section class="columns score" aria-labelledby="score">
      <div>
        <h2 id="score">{typeFacts(type).number}</h2>
        <p class="small soft">
          {longDay(period.from)} to {longDay(period.to)}
        </p>
        {now.value === null ? (
          <p class="now">
            <span>
              No responses{' '}
              {period.name === 'custom' ? 'on these days' : `in the last ${period.days} days`}
            </span>
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

function Trend({ type, period, timeZone, steps }: TrendProps) {
  const known = steps.filter(({ measured }) => measured.value !== null);
  const name = typeFacts(type).number;
  const title = `${name} ${stepsTexts[period.interval]}`;
  if (known.length === 0) return null;
  const first = known[0]!;
  const last = known.at(-1)!;
  const hasOne = known.some(({ measured }) => measured.margin === null);
  const band = `The band is the margin of error (95%).${
    hasOne ? ' One response has none: there the band is as high as the drawing.' : ''
  }`;
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
      steps={steps.map((step) => shownStep(step, type, period))}
      columns={[
        { head: { day: 'Day', week: 'Week of', month: 'Month' }[period.interval] },
        ...numberColumns('Score', 'Margin', 'Promoters', 'Passives', 'Detractors', 'Responses'),
      ]}
    />
  );
}

function shownStep(
  step: ScoreProps['steps'][number],
  type: SurveyType,
  period: HomePeriod,
): TrendStep {
  const { value, margin, total } = step.measured;
  const [score, sure] = textsOf(type, step.measured);
  const name = stepName(step.start, period);
  return {
    value,
    margin,
    name,
    label: shortDay(step.start, period.interval),
    cells: [
      score,
      sure,
      ...[step.promoters, step.passives, step.detractors, total].map((number) => count(number)),
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

type Meaning = Pick<ScoreProps, 'type' | 'change' | 'now' | 'before' | 'period'>;

export function meaning({ type, change, now, before, period }: Meaning) {
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
  if (typeFacts(type).measure === 'mean') return by.toFixed(2);
  return `${by} ${by === 1 ? 'point' : 'points'}`;
}

export const kindOf = (type: SurveyType, audience: 'employee' | 'customer' | null) =>
  audience === null
    ? typeFacts(type).kind
    : `${typeFacts(type).kind}, ${audience === 'employee' ? 'employees' : 'customers'}`;
