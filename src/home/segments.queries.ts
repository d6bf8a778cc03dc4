import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { NpsScope } from '../responses/scope.cte.ts';
import { countedRows } from '../responses/totals.queries.ts';
import { countTrend, sampleVariance, type TrendTally } from '../responses/trend.queries.ts';
import type { TrendRows } from '../responses/trend.rules.ts';
import type { Days } from './figures.queries.ts';

/** A value that a property has, as the API is asked for it. */
export type PropertyValue = { name: string; value: string };

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

export type SegmentFound = {
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
export async function findSegments(
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
