import { type Db, one, type Part, type Sql } from '../lib/db/db.ts';
import {
  chosenSurveys,
  countedRows,
  everything,
  type NpsScope,
} from '../responses/filter.queries.ts';
import { readInstants } from '../responses/period.ts';
import {
  countTrend,
  type NpsTrendRow,
  sampleVariance,
  type TrendRows,
  type TrendTally,
  trendOf,
  trendRows,
} from '../responses/trend.ts';
import {
  type Category,
  type Measured,
  measure,
  type SurveyType,
  type Tally,
  typeFacts,
} from '../survey-types.ts';
import { type AttentionCounts, attentionCounts } from './queries.ts';
import { type Change, compare, facetsOf, type HomePeriod, type HomeScope, sumOf } from './rules.ts';

type TrendFigures = {
  now: Measured;
  before: Measured;
  change: Change | null;
  tally: Tally;
  steps: (NpsTrendRow & { measured: Measured })[];
  /** Null where a property is asked for: mails are not counted by it. */
  asked: AskedCounts | null;
};

export type HomeFigures = TrendFigures & { comments: NewestComment[]; attention: AttentionCounts };

export type LookedAt = { scope: HomeScope; period: HomePeriod; timeZone: string };

/** Everything that Home shows of a period. The totals are the sums of the trend, which is what the API answers. */
export async function readHomeFigures(
  db: Db,
  orgId: string,
  looked: LookedAt,
): Promise<HomeFigures> {
  const wanted = wantedOf(looked);
  const { comments, attention, ...found } = await findHomeFigures(db, orgId, wanted);
  return { ...figuresOf(looked, wanted.rows, found), comments, attention };
}

/** The part of it that the page of a survey shows. */
export async function readTrendFigures(
  db: Db,
  orgId: string,
  looked: LookedAt,
): Promise<TrendFigures> {
  const wanted = wantedOf(looked);
  return figuresOf(looked, wanted.rows, await findTrendFigures(db, orgId, wanted));
}

function wantedOf({ scope, period, timeZone }: LookedAt) {
  return {
    scope: npsScopeOf(scope),
    days: { from: period.from, to: period.to, timeZone },
    before: { ...period.before, timeZone },
    rows: rowsWithBefore({ period, timeZone }),
    isMean: typeFacts(scope.type).measure === 'mean',
  };
}

export function npsScopeOf({ survey, type, audience, properties }: HomeScope): NpsScope {
  const of = { ...everything, facets: facetsOf(properties) };
  return survey ? { ...of, survey_id: survey.id } : { ...of, type, audience };
}

/** The steps of the period, and in front of them the period before as one: it ends where the first step begins. */
function rowsWithBefore({ period, timeZone }: Pick<LookedAt, 'period' | 'timeZone'>): TrendRows {
  const { interval, from, to, before } = period;
  const days = { from: readInstants(from) ?? null, to: readInstants(to) ?? null };
  const rows = trendRows({ interval, timeZone, ...days }, new Date());
  return {
    ...rows,
    starts: [before.from, ...rows.starts],
    edges: [before.from, ...rows.edges],
  };
}

function figuresOf(
  { scope: { type } }: LookedAt,
  rows: TrendRows,
  found: TrendFound,
): TrendFigures {
  const { trend, variance, variance_before, asked } = found;
  const [earlier, ...steps] = trendOf(trend, rows).map((row, at) => ({
    ...row,
    score_sum: trend[at]!.score_sum,
  }));
  const tally = sumOf(steps);
  const now = measure(type, tally, variance);
  const before = measure(type, earlier!, variance_before);
  return {
    now,
    before,
    tally,
    asked,
    change: compare(type, now, before),
    steps: steps.map((step) => ({ ...step, measured: measure(type, step, variance) })),
  };
}

/** Whole local days, both included. */
export type Days = { from: string; to: string; timeZone: string };

export type AskedCounts = {
  asked: number;
  arrived: number;
  answered: number;
};

export type NewestComment = {
  id: string;
  score: number;
  category: Category;
  comment: string;
  created_at: string;
  type: SurveyType;
  survey_name: string;
  contact_name: string | null;
  contact_email: string | null;
};

type FiguresWanted = {
  scope: NpsScope;
  days: Days;
  before: Days;
  /** The first row is the whole period before. */
  rows: TrendRows;
  /** Whether the scores themselves count, and not only their categories. */
  isMean: boolean;
};

type TrendFound = {
  trend: TrendTally[];
  variance: number | null;
  variance_before: number | null;
  asked: AskedCounts | null;
};

type HomeFound = TrendFound & { comments: NewestComment[]; attention: AttentionCounts };

/** What is shown of a survey's period, by one statement. */
export async function findTrendFigures(
  sql: Sql,
  orgId: string,
  wanted: FiguresWanted,
): Promise<TrendFound> {
  return one(await sql<TrendFound[]>`select ${trendColumns(sql, orgId, wanted)}`);
}

/** The same and all else that Home shows. */
export async function findHomeFigures(
  sql: Sql,
  orgId: string,
  wanted: FiguresWanted,
): Promise<HomeFound> {
  return one(
    await sql<HomeFound[]>`
      select ${trendColumns(sql, orgId, wanted)},
             ${newestComments(sql, orgId, wanted)} as comments,
             (select row_to_json(counts) from (${attentionCounts(sql, orgId)}) counts) as attention`,
  );
}

function trendColumns(sql: Sql, orgId: string, wanted: FiguresWanted): Part {
  const { scope, days, before, rows, isMean } = wanted;
  const ofScores = isMean
    ? sql`
        ${sampleVariance(sql, orgId, { scope, ...days })} as variance,
        ${sampleVariance(sql, orgId, { scope, ...before })} as variance_before`
    : sql`null as variance, null as variance_before`;
  return sql`
    ${countTrend(sql, orgId, { scope, rows })}::json as trend, ${ofScores},
    ${scope.facets.length > 0 ? sql`null` : askedCounts(sql, orgId, wanted)} as asked`;
}

type OfDays = Pick<FiguresWanted, 'scope' | 'days'>;

/** How far the contacts have come that were first mailed on these days: from kept tallies, however many there are. */
const askedCounts = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`(
  select json_build_object('asked', coalesce(sum(asked), 0), 'arrived', coalesce(sum(asked - undelivered), 0),
                           'answered', coalesce(sum(answered), 0))
  from asked_tallies
  where org_id = ${orgId} ${chosenSurveys(sql, orgId, scope)} and ${onDays(sql, sql`quarter`, days)}
)`;

const mostComments = 8;

/** The newest comments on these days, as JSON of an array of `NewestComment`. */
const newestComments = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`(
  select coalesce(json_agg(json_build_object(
           'id', r.id, 'score', r.score, 'category', r.category, 'comment', r.comment,
           'created_at', iso(r.created_at), 'type', s.type, 'survey_name', s.name,
           'contact_name', c.name, 'contact_email', c.email) order by r.created_at desc, r.id desc), '[]')
  from (${scope.facets.length > 0 ? facetComments(sql, orgId, { scope, days }) : comments(sql, orgId, { scope, days })}) r
  join surveys s on s.org_id = ${orgId} and s.id = r.survey_id
  left join contacts c
    on c.org_id = ${orgId} and c.survey_id = r.survey_id and c.id = r.contact_id
)`;

const comments = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`
  select id, survey_id, contact_id, score, category, comment, created_at
  from responses
  where org_id = ${orgId} and held_reason is null and comment is not null
    ${chosenSurveys(sql, orgId, scope)} and ${onDays(sql, sql`created_at`, days)}
  order by created_at desc, id desc
  limit ${mostComments}`;

/** In the order of the index of properties. */
const facetComments = (sql: Sql, orgId: string, { scope, days }: OfDays) => sql`
  select o.id, o.survey_id, o.contact_id, o.score, o.category, o.comment, o.created_at
  from (
    select id, created_at
    from ${countedRows(sql, orgId, scope)} and ${onDays(sql, sql`created_at`, days)}
  ) f
  join responses o on o.org_id = ${orgId} and o.created_at = f.created_at and o.id = f.id
  where o.held_reason is null and o.comment is not null
  order by f.created_at desc, f.id desc
  limit ${mostComments}`;

const onDays = (sql: Sql, column: Part, { from, to, timeZone }: Days) => sql`
  ${column} >= ${from}::timestamp at time zone ${timeZone}
  and ${column} < (${to}::date + 1)::timestamp at time zone ${timeZone}`;
