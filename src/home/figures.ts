import { type Db, one, type Part, type Sql } from '../lib/db/db.ts';
import { wordsInOrder } from '../questions/queries.ts';
import {
  countedRows,
  everything,
  hasFacets,
  type NpsScope,
  surveyConditions,
} from '../responses/filter.queries.ts';
import { addDays, readInstants } from '../responses/period.ts';
import {
  countTrend,
  sampleVariance,
  type TrendRows,
  type TrendTally,
  trendRows,
} from '../responses/trend.ts';
import {
  type Category,
  compare,
  measure,
  type SurveyType,
  totalOf,
  typeFacts,
} from '../survey-types.ts';
import { facetsOf, type HomePeriod, type HomeScope, sumOf } from './rules.ts';
import { hasEnough, movingDaysOf, movingSteps, type Step } from './steps.ts';

export type Selection = { scope: HomeScope; period: HomePeriod; timeZone: string };

export type TrendFigures = Awaited<ReturnType<typeof readFigures>>;

/** Totals are sums of the trend, so that they agree with the API. With few responses the trend is a moving score. */
export async function readFigures(db: Db, orgId: string, selection: Selection) {
  const { type } = selection.scope;
  const rows = rowsWithBefore(selection);
  const found = await findTrendFigures(db, orgId, {
    ...ofDays(selection),
    before: { ...selection.period.before, timeZone: selection.timeZone },
    rows,
    isMean: typeFacts(type).measure === 'mean',
  });
  const { trend, variance, variance_before, asked, asked_before } = found;
  const [earlier, ...shortest] = trend.map((tally, at) => ({ start: rows.starts[at]!, ...tally }));
  const tally = sumOf(shortest);
  const now = measure(type, tally, variance);
  const before = measure(type, earlier!, variance_before);
  const isEnough = now.total === 0 || hasEnough(shortest);
  return {
    now,
    before,
    tally,
    /** Null with a filter by property, because mails are not counted by property. */
    asked: asked && asked_before && { ...asked, before: asked_before.settled },
    change: compare(type, now, before),
    ...(isEnough
      ? {
          by: selection.period.interval,
          steps: measureSteps(type, shortest, { variance, scores: now.total }),
        }
      : await readMovingSteps(db, orgId, selection)),
  };
}

/** Uses the variance of the whole trend. */
const measureSteps = (
  type: SurveyType,
  steps: readonly Step[],
  { variance, scores }: { variance: number | null; scores: number },
) => steps.map((step) => ({ ...step, measured: measure(type, step, variance, scores) }));

async function readMovingSteps(db: Db, orgId: string, selection: Selection) {
  const { period, timeZone, scope } = selection;
  const movingDays = movingDaysOf(period);
  const first = addDays(period.from, 1 - movingDays);
  const edges = Array.from({ length: period.days + movingDays }, (_, at) => addDays(first, at));
  const starts = edges.slice(0, -1);
  const { tallies, variance } = await countRows(db, orgId, {
    scope: ofDays(selection).scope,
    days: { from: first, to: period.to, timeZone },
    rows: { timeZone, starts, edges, from: null, to: null },
    isMean: typeFacts(scope.type).measure === 'mean',
  });
  const days = tallies.map((tally, at) => ({ start: starts[at]!, ...tally }));
  const steps = movingSteps(days, period);
  return {
    by: movingDays,
    steps: measureSteps(scope.type, steps, { variance, scores: totalOf(sumOf(days)) }),
  };
}

type RowsOfDays = OfDays & { rows: TrendRows; isMean: boolean };

/** Only the interval of a mean needs the variance. */
export async function countRows(
  sql: Sql,
  orgId: string,
  { scope, days, rows, isMean }: RowsOfDays,
) {
  return one(
    await sql<{ tallies: TrendTally[]; variance: number | null }[]>`
      select ${countTrend(sql, orgId, { scope, rows })}::json as tallies,
             ${isMean ? sampleVariance(sql, orgId, { scope, ...days }) : sql`null::float8`} as variance`,
  );
}

export function ofDays({ scope, period: { from, to }, timeZone }: Selection) {
  const { survey, type, audience, properties } = scope;
  const all = { ...everything, facets: facetsOf(properties) };
  return {
    scope: survey ? { ...all, survey_id: survey.id } : { ...all, type, audience },
    days: { from, to, timeZone },
  };
}

/** The first row is the whole previous period. The steps of this period follow. */
function rowsWithBefore({ period, timeZone }: Selection): TrendRows {
  const { interval, before } = period;
  const [from, to] = [readInstants(period.from)!, readInstants(period.to)!];
  const rows = trendRows({ interval, timeZone, from, to }, new Date());
  return {
    ...rows,
    starts: [before.from, ...rows.starts],
    edges: [before.from, ...rows.edges],
  };
}

/** Whole local days, including the first and the last one. */
export type Days = { from: string; to: string; timeZone: string };

/** Counts the emails of a period. `settled` counts only the emails that people have had time to respond to. */
export type AskedCounts = AskedRate & { arrived: number; settled: AskedRate };
export type AskedRate = { asked: number; answered: number };

export const settledDays = 7;

export type NewestComment = {
  id: string;
  score: number;
  category: Category;
  comment: string;
  created_at: Date;
  type: SurveyType;
  contact_name: string | null;
  contact_email: string | null;
};

export type OfDays = { scope: NpsScope; days: Days };

type TrendFound = {
  trend: TrendTally[];
  variance: number | null;
  variance_before: number | null;
  asked: AskedCounts | null;
  asked_before: AskedCounts | null;
};

/** The first row is the whole previous period. Only the interval of a mean needs the variances. */
export async function findTrendFigures(
  sql: Sql,
  orgId: string,
  of: OfDays & { before: Days; rows: TrendRows; isMean: boolean },
) {
  const { scope, days, before, rows, isMean } = of;
  const variance = ({ from, to, timeZone }: Days) =>
    isMean ? sampleVariance(sql, orgId, { scope, from, to, timeZone }) : sql`null::float8`;
  const asked = (days: Days) =>
    scope.facets.length > 0 ? sql`null` : askedCounts(sql, orgId, { scope, days });
  return one(
    await sql<TrendFound[]>`
      select ${countTrend(sql, orgId, { scope, rows })}::json as trend,
             ${variance(days)} as variance, ${variance(before)} as variance_before,
             ${asked(days)} as asked, ${asked(before)} as asked_before`,
  );
}

/** Counts contacts by the day they were first mailed. */
const askedCounts = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`(
  select json_build_object('asked', coalesce(sum(asked), 0), 'arrived', coalesce(sum(asked - undelivered), 0),
                           'answered', coalesce(sum(answered), 0),
                           'settled', json_build_object(
                             'asked', coalesce(sum(asked) filter (where is_settled), 0),
                             'answered', coalesce(sum(answered) filter (where is_settled), 0)))
  from asked_tallies
  cross join lateral (select quarter < now() - make_interval(days => ${settledDays}) as is_settled) settled
  where org_id = ${orgId} ${surveyConditions(sql, orgId, scope)} and ${onDays(sql, sql`quarter`, days)}
)`;

/** Number of comments per category, so that the happy majority does not hide the others. */
const commentsEach = 2;

export async function listNewestComments(sql: Sql, orgId: string, of: OfDays) {
  const newest = of.scope.facets.length > 0 ? facetComments : comments;
  return await sql<NewestComment[]>`
    with newest as (
      select id
      from (values ('promoter'), ('passive'), ('detractor')) kind (name)
      cross join lateral (
        select id, created_at
        from ((${newest(sql, orgId, of)}) union (${textAnswers(sql, orgId, of)})) written
        order by created_at desc, id desc
        limit ${commentsEach}
      ) written
    )
    select r.id, r.score, r.category, concat_ws(' · ', r.comment, ${wordsInOrder(sql)}) as comment, r.created_at, s.type,
           c.name as contact_name, c.email as contact_email
    from newest
    join responses r on r.org_id = ${orgId} and r.id = newest.id
    join surveys s on s.org_id = ${orgId} and s.id = r.survey_id
    left join contacts c
      on c.org_id = ${orgId} and c.survey_id = r.survey_id and c.id = r.contact_id
    order by r.created_at desc, r.id desc`;
}

const comments = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`
  select id, created_at
  from responses
  where org_id = ${orgId} and held_reason is null and comment is not null
    and category = kind.name ${surveyConditions(sql, orgId, scope)}
    and ${onDays(sql, sql`created_at`, days)}
  order by created_at desc, id desc
  limit ${commentsEach}`;

/** Follows the order of the facet index. */
const facetComments = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`
  select o.id, o.created_at
  from (
    select id, created_at
    from ${countedRows(sql, orgId, scope)} and category = kind.name and ${onDays(sql, sql`created_at`, days)}
  ) f
  join responses o on o.org_id = ${orgId} and o.created_at = f.created_at and o.id = f.id
  where o.held_reason is null and o.comment is not null
  order by f.created_at desc, f.id desc
  limit ${commentsEach}`;

/** The newest answers to each text question in the scope. */
const textAnswers = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`
  select f.id, f.created_at
  from (select id as survey_id, questions from surveys where org_id = ${orgId}) asking
  cross join lateral jsonb_array_elements(asking.questions) question
  cross join lateral (
    select response_id as id, created_at
    from response_facets a
    where org_id = ${orgId} and facet = facet_of('answered', question ->> 'id', '') and category = kind.name
      and ${onDays(sql, sql`created_at`, days)}
      ${hasFacets(sql, orgId, scope.facets, sql`a.created_at, a.response_id`)}
    order by created_at desc, response_id desc
    limit ${commentsEach}
  ) f
  where question ->> 'kind' = 'text' ${surveyConditions(sql, orgId, scope)}`;

export const onDays = (sql: Sql, column: Part, { from, to, timeZone }: Days) => sql`
  ${column} >= ${from}::timestamp at time zone ${timeZone}
  and ${column} < (${to}::date + 1)::timestamp at time zone ${timeZone}`;
