import { type Db, one, type Part, type Sql } from '../lib/db/db.ts';
import { countedRows, type NpsScope } from '../responses/filter.queries.ts';
import { addDays } from '../responses/period.ts';
import {
  countTrend,
  sampleVariance,
  type TrendRows,
  type TrendTally,
  trendOf,
} from '../responses/trend.ts';
import { type Counted, type Measured, measure, typeFacts } from '../survey-types.ts';
import { type Days, type LookedAt, npsScopeOf } from './figures.ts';

export type MeasuredSegment = { value: string; measured: Measured; counted: Counted };

export type Comparison = {
  /** The properties that segments can be made of. */
  names: string[];
  /** The property that they are made of, if one was asked for. */
  by: string | null;
  segments: MeasuredSegment[];
};

/** The segments by a property, each counted as the API counts it; without a property only the properties there are. */
export async function readComparison(
  db: Db,
  orgId: string,
  { by, ...looked }: LookedAt & { by: string | null },
): Promise<Comparison> {
  const { scope, period, timeZone } = looked;
  const days = { from: period.from, to: period.to, timeZone };
  const values = await findPropertyValues(db, orgId, { scope: npsScopeOf(scope), days });
  const names = [...new Set(values.map(({ name }) => name))];
  const compared = by === null ? [] : values.filter(({ name }) => name === by);
  return { names, by, segments: await measureSegments(db, orgId, { ...looked, values: compared }) };
}

type Compared = LookedAt & { values: readonly PropertyValue[] };

async function measureSegments(
  db: Db,
  orgId: string,
  { scope, period, timeZone, values }: Compared,
): Promise<MeasuredSegment[]> {
  const { from, to } = period;
  const all = npsScopeOf(scope);
  const rows = { timeZone, starts: [from], edges: [from, addDays(to, 1)], from: null, to: null };
  const found = await findSegments(db, orgId, {
    scopes: values.map((each) => ({
      ...all,
      facets: [...all.facets, { kind: 'property', ...each } as const],
    })),
    days: { from, to, timeZone },
    rows,
    isMean: typeFacts(scope.type).measure === 'mean',
  });
  return found.map(({ trend, variance }, at) => {
    const [tally] = trendOf(trend, rows);
    const counted = { ...tally!, score_sum: trend[0]!.score_sum };
    const measured = measure(scope.type, counted, variance ?? null);
    return { value: values[at]!.value, measured, counted };
  });
}

/** A value that a property has, as the API is asked for it. */
type PropertyValue = { name: string; value: string };

/** The newest responses say which properties and values there are: many more would take long to read. */
export const sampledResponses = 1_000;
const mostValues = 12;
const longestValue = 100;

type Sample = { scope: NpsScope; days: Days };

/** The values of the properties of the newest responses, of each property the most frequent first. */
export async function findPropertyValues(
  sql: Sql,
  orgId: string,
  { scope, days }: Sample,
): Promise<PropertyValue[]> {
  return await sql<PropertyValue[]>`
    with sampled as materialized (
      select id
      from ${countedRows(sql, orgId, scope)}
        and created_at >= ${days.from}::timestamp at time zone ${days.timeZone}
        and created_at < (${days.to}::date + 1)::timestamp at time zone ${days.timeZone}
      order by created_at desc, id desc
      limit ${sampledResponses}
    ), counted as (
      select property.key as name, property.value, count(*) as responses,
             row_number() over (partition by property.key order by count(*) desc, property.value) as place
      from sampled
      join responses r on r.org_id = ${orgId} and r.id = sampled.id
      left join contacts c on c.org_id = ${orgId} and c.survey_id = r.survey_id and c.id = r.contact_id
      cross join lateral jsonb_each_text(coalesce(c.properties, r.properties)) property
      where property.value <> '' and length(property.value) <= ${longestValue}
      group by 1, 2
    )
    select name, value from counted where place <= ${mostValues} order by name, place`;
}

type SegmentFound = {
  trend: TrendTally[];
  variance: number | null;
};

type SegmentsWanted = {
  /** One scope for each segment. */
  scopes: readonly NpsScope[];
  days: Days;
  /** One row: the whole period. */
  rows: TrendRows;
  isMean: boolean;
};

/** What each segment comes to, by one statement. */
async function findSegments(
  sql: Sql,
  orgId: string,
  { scopes, ...wanted }: SegmentsWanted,
): Promise<SegmentFound[]> {
  const [first, ...others] = scopes.map((scope) => segment(sql, orgId, { scope, ...wanted }));
  if (!first) return [];
  const all = others.reduce((before, each) => sql`${before}, ${each}`, first);
  return one(await sql<{ segments: SegmentFound[] }[]>`select json_build_array(${all}) as segments`)
    .segments;
}

type SegmentWanted = Omit<SegmentsWanted, 'scopes'> & { scope: NpsScope };

function segment(sql: Sql, orgId: string, { scope, days, rows, isMean }: SegmentWanted): Part {
  const trend = sql`${countTrend(sql, orgId, { scope, rows })}::json`;
  if (!isMean) return sql`json_build_object('trend', ${trend})`;
  return sql`json_build_object(
    'trend', ${trend}, 'variance', ${sampleVariance(sql, orgId, { scope, ...days })})`;
}
