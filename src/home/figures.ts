import type { Db } from '../lib/db/db.ts';
import { type NpsTrendRow, trendOf } from '../responses/nps.ts';
import { readInstants } from '../responses/range.ts';
import { everything, type NpsScope } from '../responses/scope.cte.ts';
import { type TrendRows, trendRows } from '../responses/trend.rules.ts';
import type { Tally } from '../scores.ts';
import type { HomeScope } from './choice.rules.ts';
import {
  type AskedCounts,
  findHomeFigures,
  findTrendFigures,
  type NewestComment,
  type TrendFound,
} from './figures.queries.ts';
import {
  type Change,
  compare,
  type Measured,
  measure,
  measureKinds,
  sumOf,
} from './measure.rules.ts';
import type { HomePeriod } from './period.rules.ts';
import { facetsOf } from './property.rules.ts';
import type { AttentionCounts } from './queries.ts';

export type TrendFigures = {
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
    isMean: measureKinds[scope.type] === 'mean',
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
    scoreSum: trend[at]!.score_sum,
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
    steps: steps.map(({ scoreSum, ...row }) => ({
      ...row,
      measured: measure(type, { ...row, scoreSum }, variance),
    })),
  };
}
