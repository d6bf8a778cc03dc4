import type { Child } from 'hono/jsx';
import { lazy } from '../lib/async/memoize.ts';
import type { Db } from '../lib/db/db.ts';
import { localDay } from '../responses/period.ts';
import {
  boundsOf,
  type Change,
  compare,
  formatInterval,
  formatPoints,
  formatValue,
  type Measured,
  measure,
  percentage,
  type SurveyType,
  signedNps,
  type Tally,
  totalOf,
  typeFacts,
} from '../survey-types.ts';
import { dayText, Part } from '../web/app/badges.tsx';
import { Bar, Funnel, Gauge, PartsBar } from '../web/app/drawings.tsx';
import { Icon } from '../web/app/icon.tsx';
import { count, counted, withQuery } from '../web/app/lists.tsx';
import { TrendChart, type TrendStep } from '../web/app/trend-chart.tsx';
import {
  type AskedCounts,
  type AskedRate,
  listNewestComments,
  ofDays,
  readFigures,
  settledDays,
  type TrendFigures,
} from './figures.ts';
import { CommentsPart } from './parts.tsx';
import {
  daysSince,
  type HomePeriod,
  lastDays,
  type PeriodName,
  type ScopeQuery,
  scopeQuery,
} from './rules.ts';
import type { StepKind } from './steps.ts';

export const numberColumns = (...heads: string[]) => heads.map((head) => ({ head, number: true }));

export type Score = Pick<Measured, 'value' | 'interval'>;

export const scoreTexts = (type: SurveyType, { value, interval }: Score) => [
  value === null ? '–' : formatValue(type, value),
  interval === null ? '–' : formatInterval(type, interval),
];

type TrendOfSurvey = {
  organization: { id: string; slug: string; timeZone: string };
  survey: { id: string; name: string; type: SurveyType; audience: 'employee' | null };
  /** Since the first response by default. */
  period: PeriodName | null;
  firstAt: Date;
};

/** The trend, response rate and newest comments of one survey, as on Home. */
export async function surveyTrend(
  db: Db,
  { organization: { id: orgId, slug, timeZone }, survey, period: name, firstAt }: TrendOfSurvey,
): Promise<Child> {
  const today = localDay(new Date(), timeZone);
  const period = name ? lastDays(name, today) : daysSince(localDay(firstAt, timeZone), today);
  const { type, audience } = survey;
  const scope = { survey, type, audience, properties: {} };
  const selection = { scope, period, timeZone };
  const [{ by, steps, asked: counts, now }, comments] = await Promise.all([
    readFigures(db, orgId, selection),
    listNewestComments(db, orgId, ofDays(selection)),
  ]);
  const path = `/o/${slug}/responses`;
  return (
    <>
      <div class="grid main-side level">
        <Part id="trend-heading" title="Trend" act={<TrendLegend by={by} />}>
          <Trend type={type} timeZone={timeZone} by={by} steps={steps} />
        </Part>
        {counts?.asked ? <AskedPart asked={counts} period={period} /> : null}
      </div>
      <CommentsPart
        comments={comments}
        organization={{ slug }}
        total={now.total}
        all={responsesOf({ path, scope: scopeQuery(scope), period })}
      />
    </>
  );
}

type AskedProps = {
  /** `before` has the settled emails of the previous period. */
  asked: AskedCounts & { before: AskedRate };
  period: Pick<HomePeriod, 'days'>;
};

/** The change leaves out recent emails, because they would make every period look like a decline. */
export function AskedPart({ asked: counts, period }: AskedProps) {
  const { asked, arrived, answered, settled } = counts;
  const step = (name: string, part: number) => ({
    name: <span class="soft">{name}</span>,
    count: count(part),
    share: asked === 0 || part === asked ? null : `${percentage(part, asked)}%`,
    bar: <Bar part={part} whole={asked} />,
  });
  const before = measureRate(counts.before);
  const change = compare('thumbs', measureRate(settled), before);
  const isClear = change?.meaning === 'better' || change?.meaning === 'worse';
  const { lead } = describeChange({ type: 'thumbs', change, before, period });
  return (
    <section class="card" aria-labelledby="asked">
      <h2 id="asked">Response rate</h2>
      {asked === 0 ? (
        <p class="soft">No emails sent.</p>
      ) : (
        <>
          <p class="figure">{percentage(answered, asked)}%</p>
          {change === null ? null : (
            <p class="sub">
              {isClear ? <ChangeLead lead={lead} change={change} /> : 'No clear change'} from{' '}
              {before.value}% in the {counted(period.days, 'day')} before.
            </p>
          )}
          {settled.asked === asked || counts.before.asked === 0 ? null : (
            <p class="sub">
              {settled.asked === 0
                ? `Not compared, because people had less than ${settledDays} days to respond.`
                : `Compares only emails sent at least ${settledDays} days ago (${percentage(settled.answered, settled.asked)}% in this period), because people need time to respond.`}
            </p>
          )}
          <Funnel
            steps={[step('Sent', asked), step('Delivered', arrived), step('Responded', answered)]}
          />
        </>
      )}
    </section>
  );
}

const measureRate = ({ asked, answered }: AskedRate) =>
  measure(
    'thumbs',
    { promoters: answered, passives: 0, detractors: asked - answered, score_sum: answered },
    null,
  );

const stepTexts = {
  day: { title: 'by day', head: 'Day', name: '' },
  week: { title: 'by week', head: 'Week of', name: 'Week of ' },
  month: { title: 'by month', head: 'Month', name: '' },
  30: { title: 'of the last 30 days', head: '30 days to', name: '30 days to ' },
  90: { title: 'of the last 90 days', head: '90 days to', name: '90 days to ' },
} as const satisfies Record<StepKind, unknown>;

type ScoreProps = Omit<TrendFigures, 'asked'> & {
  type: SurveyType;
  period: HomePeriod;
  timeZone: string;
  responses: ResponsesPlace;
};

export type ResponsesPlace = {
  path: string;
  scope: ScopeQuery;
  period: Pick<HomePeriod, 'from' | 'to'>;
};

/** The inbox with the filters of a screen, and `filter`. */
export const responsesOf = (
  { path, scope, period }: ResponsesPlace,
  filter: Readonly<Record<string, string>> = {},
) => withQuery(path, { ...scope, ...filter, date_from: period.from, date_to: period.to });

export function ScorePart(props: ScoreProps) {
  const { type, period, now, before, change, by } = props;
  const { lead, rest } = describeChange({ type, change, before, period });
  return (
    <section class="card hero" aria-labelledby="score">
      <div class="verdict">
        <div>
          <h2 id="score">{typeFacts(type).number}</h2>
          <p class="sub">
            {longDay(period.from)} to {longDay(period.to)}
          </p>
        </div>
        <ScoreGauge type={type} measured={now} />
        {now.value === null ? (
          <p>
            No responses{' '}
            {period.name === 'custom' ? 'on these days' : `in the last ${period.days} days`}
          </p>
        ) : (
          <p>
            <ChangeLead lead={lead} change={change} />
            {rest} <span class="soft">{counted(now.total, 'response')}.</span>
          </p>
        )}
        {now.total === 0 ? null : (
          <Categories
            type={type}
            tally={props.tally}
            linkTo={(category) => responsesOf(props.responses, { category })}
          />
        )}
      </div>
      <div>
        <div class="title">
          <h2>Trend</h2>
          {now.total === 0 ? null : <TrendLegend by={by} />}
        </div>
        <Trend {...props} />
      </div>
    </section>
  );
}

/** A score on its scale, with its interval. */
export const ScoreGauge = ({ type, measured }: { type: SurveyType; measured: Score }) => (
  <Gauge
    value={measured.value}
    interval={measured.interval}
    range={measured.interval && formatInterval(type, measured.interval)}
    bounds={boundsOf(type)}
    format={(value) => formatValue(type, value)}
    label={typeFacts(type).number}
  />
);

/** Only significant changes get a colour and a shape. */
export function ChangeLead({ lead, change }: { lead: string; change: Change | null }) {
  const tone = change && { better: 'is-good', worse: 'is-poor' }[change.meaning as string];
  if (!tone) return lead === '' ? null : <strong>{lead}</strong>;
  return (
    <span class={`delta ${tone}`}>
      <Icon name={change.by > 0 ? 'arrow-up-right' : 'arrow-down-right'} />
      {lead}
    </span>
  );
}

const isMoving = (by: StepKind) => typeof by === 'number';

const TrendLegend = ({ by }: { by: StepKind }) => (
  <p class="legend">
    <span class="key line">{isMoving(by) ? `Last ${by} days` : 'Score'}</span>
    <span class="key band">95% interval</span>
    <span class="key pile">Responses</span>
  </p>
);

type CategoriesProps = {
  type: SurveyType;
  tally: Tally;
  linkTo?: (category: string) => string;
};

export const Categories = ({ type, tally, linkTo }: CategoriesProps) => (
  <PartsBar
    parts={categoryParts(type, tally).map((part) => ({
      ...part,
      figure: `${percentage(part.share, totalOf(tally))}%`,
      remark: count(part.share),
      href: linkTo?.(part.category),
    }))}
  />
);

/** Promoters, passives and detractors as parts of a bar, under the names of the scale. A thumb is never passive. */
export const categoryParts = (type: SurveyType, { promoters, passives, detractors }: Tally) =>
  [
    { category: 'promoter', tone: 'is-promoter', share: promoters },
    { category: 'passive', tone: 'is-passive', share: passives },
    { category: 'detractor', tone: 'is-detractor', share: detractors },
  ].flatMap((part, at) => {
    const name = (typeFacts(type).categoryNames ?? categoryNames)[at];
    return name ? { ...part, name } : [];
  });

const categoryNames = ['Promoters', 'Passives', 'Detractors'];

export const partNames = (type: SurveyType) =>
  categoryParts(type, { promoters: 0, passives: 0, detractors: 0 }).map(({ name }) => name);

type TrendProps = Pick<ScoreProps, 'type' | 'timeZone' | 'by' | 'steps'>;

function Trend({ type, timeZone, by, steps }: TrendProps) {
  const known = steps.filter(({ measured }) => measured.value !== null);
  const title = `${typeFacts(type).number} ${stepTexts[by].title}`;
  if (known.length === 0) return <p class="soft">No responses in this period.</p>;
  const first = known[0]!;
  const last = known.at(-1)!;
  const isUnknown = known.some(({ measured }) => measured.interval === null);
  const band = `Shaded: 95% interval${isUnknown ? ', full height where unknown' : ''}.`;
  const values = known.map(({ measured }) => measured.value!);
  const description =
    `From ${formatValue(type, first.measured.value!)} (${stepName(first.start, by)}) to ` +
    `${formatValue(type, last.measured.value!)} (${stepName(last.start, by)}), ` +
    `lowest ${formatValue(type, Math.min(...values))}, highest ${formatValue(type, Math.max(...values))}.`;
  return (
    <TrendChart
      title={title}
      description={description}
      caption={`${title}. ${band} Days in ${timeZone}.`}
      bounds={boundsOf(type)}
      formatTick={(value) => formatTick(type, value)}
      steps={(known.length < 3 ? steps.slice(steps.indexOf(first)) : steps).map((step) =>
        shownStep(step, type, by),
      )}
      columns={[
        { head: stepTexts[by].head },
        ...numberColumns('Score', '95% interval', ...partNames(type), 'Responses'),
      ]}
    />
  );
}

function shownStep(step: ScoreProps['steps'][number], type: SurveyType, by: StepKind): TrendStep {
  const { value, interval, total } = step.measured;
  const [score, sure] = scoreTexts(type, step.measured);
  const name = stepName(step.start, by);
  const own = step.own ?? step;
  const parts = categoryParts(type, own);
  return {
    value,
    interval,
    name,
    label: shortDay(step.start, by === 90 ? 'month' : by),
    cells: [
      score,
      sure,
      ...[...categoryParts(type, step).map(({ share }) => share), total].map(count),
    ],
    parts,
    tip: [
      value === null ? 'No responses' : `${score}${interval === null ? '' : ` · ${sure}`}`,
      `${name}: ${counted(total, 'response')}`,
      `${isMoving(by) ? 'Bar: ' : ''}${parts.map(({ share, name }) => `${name} ${count(share)}`).join(', ')}`,
    ],
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

function shortDay(day: string, by: StepKind) {
  if (by === 90) return dayText(day);
  return (by === 'month' ? monthAndYear : dayAndMonth)().format(new Date(day));
}

function longDay(day: string) {
  return <time datetime={day}>{whole().format(new Date(day))}</time>;
}

type Meaning = Pick<ScoreProps, 'type' | 'change' | 'before'> & {
  period: Pick<HomePeriod, 'days'>;
};

export function describeChange({ type, change, before, period }: Meaning) {
  const earlier = `the ${counted(period.days, 'day')} before`;
  if (change === null || before.value === null) {
    return { lead: '', rest: 'No earlier responses to compare with.' };
  }
  const was = `${formatValue(type, before.value)} in ${earlier}`;
  if (change.by === 0) return { lead: 'Unchanged', rest: ` from ${was}.` };
  const lead = `${change.by > 0 ? 'Up' : 'Down'} ${formatPoints(type, Math.abs(change.by))}`;
  const { low, high } = change.interval ?? { low: 0, high: 0 };
  const clear = `${signedNps(low)} to ${signedNps(high)} (95% interval).`;
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
