import type { Db } from '../lib/db/db.ts';
import { type NpsTrendRow, readTrend } from '../responses/nps.ts';
import { readInstants } from '../responses/range.ts';
import { sampleVariance, sumScores } from '../responses/score-sums.queries.ts';
import { everything, type NpsScope } from '../responses/totals.queries.ts';
import { trendRows } from '../responses/trend.rules.ts';
import type { Tally } from '../scores.ts';
import type { HomeScope } from './choice.rules.ts';
import {
  type Change,
  type Counted,
  compare,
  type Measured,
  measure,
  measureKinds,
  sumOf,
} from './measure.rules.ts';
import type { HomePeriod } from './period.rules.ts';
import {
  type AskedCounts,
  countAsked,
  type Days,
  listNewestComments,
  type NewestComment,
} from './queries.ts';

export type HomeFigures = {
  now: Measured;
  before: Measured;
  change: Change | null;
  tally: Tally;
  steps: (NpsTrendRow & { measured: Measured })[];
  asked: AskedCounts;
  comments: NewestComment[];
};

type Looked = { scope: HomeScope; period: HomePeriod; timeZone: string };

/** Everything that Home shows of a period. The totals are the sums of the trend, which is what the API answers. */
export async function readFigures(db: Db, orgId: string, looked: Looked): Promise<HomeFigures> {
  const { scope, period, timeZone } = looked;
  const { type } = scope;
  const npsScope = npsScopeOf(scope);
  const days = { from: period.from, to: period.to, timeZone };
  const [steps, earlier, asked, comments] = await Promise.all([
    readSteps(db, orgId, { looked, days: period, interval: period.interval }),
    readSteps(db, orgId, { looked, days: period.before, interval: 'month' }),
    countAsked(db, orgId, { scope: npsScope, days }),
    listNewestComments(db, orgId, { scope: npsScope, days }),
  ]);
  const [tally, tallyBefore] = [sumOf(steps.rows), sumOf(earlier.rows)];
  const [now, before] = [
    measure(type, tally, steps.variance),
    measure(type, tallyBefore, earlier.variance),
  ];
  return {
    ...{ now, before, tally, asked, comments },
    change: compare(type, now, before),
    steps: steps.rows.map((row) => ({ ...row, measured: measure(type, row, steps.variance) })),
  };
}

type Steps = { rows: (NpsTrendRow & Counted)[]; variance: number | null };
type AskedSteps = {
  looked: Looked;
  days: Pick<Days, 'from' | 'to'>;
  interval: HomePeriod['interval'];
};

async function readSteps(
  db: Db,
  orgId: string,
  { looked: { scope, timeZone }, days, interval }: AskedSteps,
): Promise<Steps> {
  const dates = {
    ...{ interval, timeZone },
    from: readInstants(days.from) ?? null,
    to: readInstants(days.to) ?? null,
  };
  const npsScope = npsScopeOf(scope);
  const trend = readTrend(db, orgId, { scope: npsScope, dates });
  if (measureKinds[scope.type] !== 'mean') {
    return { rows: (await trend).map((row) => ({ ...row, scoreSum: 0 })), variance: null };
  }
  const asked = { scope: npsScope, rows: trendRows(dates, new Date()) };
  const [rows, sums, variance] = await Promise.all([
    trend,
    sumScores(db, orgId, asked),
    sampleVariance(db, orgId, asked),
  ]);
  return { rows: rows.map((row, at) => ({ ...row, scoreSum: sums[at] ?? 0 })), variance };
}

const npsScopeOf = ({ survey, type, audience }: HomeScope): NpsScope =>
  survey ? { ...everything, survey_id: survey.id } : { ...everything, type, audience };
