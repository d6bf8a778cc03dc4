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
import type { AttentionCounts } from './queries.ts';

export type TrendFigures = {
  now: Measured;
  before: Measured;
  change: Change | null;
  tally: Tally;
  steps: (NpsTrendRow & { measured: Measured })[];
  asked: AskedCounts;
};

export type HomeFigures = TrendFigures & { comments: NewestComment[]; attention: AttentionCounts };

type Looked = { scope: HomeScope; period: HomePeriod; timeZone: string };

/** Everything that Home shows of a period. The totals are the sums of the trend, which is what the API answers. */
export async function readHomeFigures(db: Db, orgId: string, looked: Looked): Promise<HomeFigures> {
  const wanted = wantedOf(looked);
  const { comments, attention, ...found } = await findHomeFigures(db, orgId, wanted);
  return { ...figuresOf(looked, wanted.rows, found), comments, attention };
}

/** The part of it that the page of a survey shows. */
export async function readTrendFigures(
  db: Db,
  orgId: string,
  looked: Looked,
): Promise<TrendFigures> {
  const wanted = wantedOf(looked);
  return figuresOf(looked, wanted.rows, await findTrendFigures(db, orgId, wanted));
}

function wantedOf({ scope, period, timeZone }: Looked) {
  return {
    scope: npsScopeOf(scope),
    days: { from: period.from, to: period.to, timeZone },
    before: { ...period.before, timeZone },
    rows: rowsWithBefore({ period, timeZone }),
    isMean: measureKinds[scope.type] === 'mean',
  };
}

const npsScopeOf = ({ survey, type, audience }: HomeScope): NpsScope =>
  survey ? { ...everything, survey_id: survey.id } : { ...everything, type, audience };

/** The steps of the period, and in front of them the period before as one: it ends where the first step begins. */
function rowsWithBefore({ period, timeZone }: Pick<Looked, 'period' | 'timeZone'>): TrendRows {
  const { interval, from, to, before } = period;
  const days = { from: readInstants(from) ?? null, to: readInstants(to) ?? null };
  const rows = trendRows({ interval, timeZone, ...days }, new Date());
  return {
    ...rows,
    starts: [before.from, ...rows.starts],
    edges: [before.from, ...rows.edges],
  };
}

function figuresOf({ scope: { type } }: Looked, rows: TrendRows, found: TrendFound): TrendFigures {
  const { trend, score_sums: sums, variance, variance_before, asked } = found;
  const [earlier, ...steps] = trendOf(trend, rows).map((row, at) => ({
    ...row,
    scoreSum: sums?.[at] ?? 0,
  }));
  const tally = sumOf(steps);
  const now = measure(type, tally, variance);
  const before = measure(type, earlier!, variance_before);
  return {
    ...{ now, before, tally, asked },
    change: compare(type, now, before),
    steps: steps.map(({ scoreSum, ...row }) => ({
      ...row,
      measured: measure(type, { ...row, scoreSum }, variance),
    })),
  };
}
