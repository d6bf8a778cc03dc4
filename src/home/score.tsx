import type { Child } from 'hono/jsx';
import { lazy } from '../lib/async/memoize.ts';
import type { Db } from '../lib/db/db.ts';
import { addDays } from '../responses/period.ts';
import {
  boundsOf,
  type Change,
  formatInterval,
  formatPoints,
  formatValue,
  type Measured,
  percentage,
  type SurveyType,
  signedNps,
  typeFacts,
} from '../survey-types.ts';
import type { FormState } from '../web/app/forms.tsx';
import { count, counted, DataTable } from '../web/app/lists.tsx';
import { PartsBar, TrendChart, type TrendStep } from '../web/app/trend-chart.tsx';
import { readFigures, type TrendFigures } from './figures.ts';
import { AskedPart, PropertyChoice, withQuery } from './parts.tsx';
import { findAnsweredDays } from './queries.ts';
import {
  choosePeriod,
  type HomePeriod,
  type HomeScope,
  maxDays,
  propertyParameter,
  type ScopeQuery,
  scopeQuery,
} from './rules.ts';
import { type Comparison, sampledResponses } from './segments.ts';
import type { StepKind } from './steps.ts';

type SegmentsProps = {
  path: string;
  scope: HomeScope;
  period: Readonly<Record<string, string>>;
  /** Null until a reader opens the comparison. */
  comparison: Comparison | null;
  form: FormState;
};

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
        <PropertyChoice path={path} params={asked} form={form} />
      </div>
      {offered.length === 0 ? null : (
        <nav aria-label="Compare by property">
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
            ? 'None of these responses has contact properties.'
            : 'Compare the score by plan, country or any other contact property.'}{' '}
          {comparison ? null : <a href={linkTo('')}>Compare by property</a>}
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
    return <p class="soft">No responses with this property in this period.</p>;
  return (
    <>
      <DataTable
        caption={`${typeFacts(type).number} by ${by}`}
        nowrap
        columns={[
          { head: by },
          ...numberColumns('Score', '95% interval', 'Promoters', 'Detractors', 'Responses'),
        ]}
        rows={segments.map(({ value, measured, counted }) => {
          const { total } = measured;
          const share = (part: number) => (total === 0 ? '–' : `${percentage(part, total)}%`);
          return {
            cells: [
              <a href={withQuery(path, { ...asked, [propertyParameter(by)]: value })}>
                <bdi>{value}</bdi>
              </a>,
              ...scoreTexts(type, measured),
              share(counted.promoters),
              share(counted.detractors),
              count(total),
            ],
          };
        })}
      />
      <p class="small soft">Top values in the latest {count(sampledResponses)} responses.</p>
    </>
  );
}

const numberColumns = (...heads: string[]) => heads.map((head) => ({ head, number: true }));

const scoreTexts = (type: SurveyType, { value, interval }: Measured) => [
  value === null ? '–' : formatValue(type, value),
  interval === null ? '–' : formatInterval(type, interval),
];

type TrendOfSurvey = {
  orgId: string;
  survey: { id: string; name: string; type: SurveyType; audience: 'employee' | null };
  period: string | null;
};

/** The trend and response rate of one survey, as on Home. */
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
  const selection = { scope, period, timeZone };
  const { by, steps, asked: counts } = await readFigures(db, orgId, selection);
  return (
    <div class="columns score part">
      {counts === null ? null : <AskedPart asked={counts} />}
      <section aria-labelledby="trend-heading">
        <div class="title">
          <h2 id="trend-heading">Over time</h2>
        </div>
        <Trend {...{ type, timeZone, by, steps }} />
      </section>
    </div>
  );
}

const stepTexts = {
  day: { title: 'by day', head: 'Day', name: '' },
  week: { title: 'by week', head: 'Week of', name: 'Week of ' },
  month: { title: 'by month', head: 'Month', name: '' },
  moving: { title: 'of the last 30 days', head: '30 days to', name: '30 days to ' },
} as const;

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
  const { lead, rest } = describeChange({ type, change, before, period });
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
              <strong>{formatValue(type, now.value)}</strong>
            </p>
            {now.interval === null ? null : (
              <p class="small soft">Margin of error (95%): {formatInterval(type, now.interval)}</p>
            )}
            <p>
              <ChangeLead lead={lead} change={change} />
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

/** Only significant changes get a colour and a shape. */
export function ChangeLead({ lead, change }: { lead: string; change: Change | null }) {
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

type TrendProps = Pick<ScoreProps, 'type' | 'timeZone' | 'by' | 'steps'>;

function Trend({ type, timeZone, by, steps }: TrendProps) {
  const known = steps.filter(({ measured }) => measured.value !== null);
  const title = `${typeFacts(type).number} ${stepTexts[by].title}`;
  if (known.length === 0) return null;
  const first = known[0]!;
  const last = known.at(-1)!;
  const isUnknown = known.some(({ measured }) => measured.interval === null);
  const band = `Shaded: margin of error (95%)${isUnknown ? ', full height where unknown' : ''}.`;
  const values = known.map(({ measured }) => measured.value!);
  const description =
    `From ${formatValue(type, first.measured.value!)} (${stepName(first.start, by)}) to ` +
    `${formatValue(type, last.measured.value!)} (${stepName(last.start, by)}), ` +
    `lowest ${formatValue(type, Math.min(...values))}, highest ${formatValue(type, Math.max(...values))}.`;
  return (
    <TrendChart
      id="trend"
      title={title}
      description={description}
      caption={`${title}. ${band} Days in ${timeZone}.`}
      bounds={boundsOf(type)}
      formatTick={(value) => formatTick(type, value)}
      steps={steps.map((step) => shownStep(step, type, by))}
      columns={[
        { head: stepTexts[by].head },
        ...numberColumns(
          'Score',
          '95% interval',
          'Promoters',
          'Passives',
          'Detractors',
          'Responses',
        ),
      ]}
    />
  );
}

function shownStep(step: ScoreProps['steps'][number], type: SurveyType, by: StepKind): TrendStep {
  const { value, interval, total } = step.measured;
  const [score, sure] = scoreTexts(type, step.measured);
  const name = stepName(step.start, by);
  return {
    value,
    interval,
    name,
    label: shortDay(step.start, by),
    cells: [
      score,
      sure,
      ...[step.promoters, step.passives, step.detractors, total].map((number) => count(number)),
    ],
    tooltip:
      value === null
        ? `${name}: no responses`
        : `${name}: ${score}${interval === null ? '' : ` (${sure})`}, ${counted(total, 'response')}`,
  };
}

const stepName = (start: string, by: StepKind) => `${stepTexts[by].name}${shortDay(start, by)}`;

const formatTick = (type: SurveyType, value: number) =>
  formatValue(type, value).replace(/\.00$/, '');

const inUtc = (options: Intl.DateTimeFormatOptions) =>
  lazy(() => new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' }));
const dayAndMonth = inUtc({ day: 'numeric', month: 'short' });
const monthAndYear = inUtc({ month: 'short', year: 'numeric' });
const whole = inUtc({ day: 'numeric', month: 'long', year: 'numeric' });

const shortDay = (day: string, by: StepKind) =>
  (by === 'month' ? monthAndYear : dayAndMonth)().format(new Date(`${day}T00:00:00Z`));

function longDay(day: string) {
  return <time datetime={day}>{whole().format(new Date(`${day}T00:00:00Z`))}</time>;
}

type Meaning = Pick<ScoreProps, 'type' | 'change' | 'before' | 'period'>;

export function describeChange({ type, change, before, period }: Meaning) {
  const earlier = `the ${counted(period.days, 'day')} before`;
  if (change === null || before.value === null) {
    return { lead: '', rest: 'No earlier responses to compare with.' };
  }
  const was = `${formatValue(type, before.value)} in ${earlier}`;
  if (change.by === 0) return { lead: 'Unchanged', rest: ` from ${was}.` };
  const lead = `${change.by > 0 ? 'Up' : 'Down'} ${formatPoints(type, Math.abs(change.by))}`;
  const { low, high } = change.interval ?? { low: 0, high: 0 };
  const clear = `the change is ${signedNps(low)} to ${signedNps(high)} with its margin of error (95%).`;
  const why = {
    none: '',
    unknown: 'Too few responses to tell whether this is a real change.',
    chance: 'No clear change: the difference is within the margin of error.',
    better: `A real improvement: ${clear}`,
    worse: `A real decline: ${clear}`,
  }[change.meaning];
  return { lead, rest: ` from ${was}. ${why}` };
}

export const kindName = (type: SurveyType, audience: 'employee' | 'customer' | null) =>
  audience === null
    ? typeFacts(type).kind
    : `${typeFacts(type).kind}, ${audience === 'employee' ? 'employees' : 'customers'}`;
