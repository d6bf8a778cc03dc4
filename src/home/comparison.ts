import type { Db, Sql } from '../lib/db/db.ts';
import { countedRows } from '../responses/filter.queries.ts';
import { addDays } from '../responses/period.ts';
import { type Counted, type Measured, measure, typeFacts } from '../survey-types.ts';
import { countRows, type OfDays, ofDays, onDays, type Selection } from './figures.ts';
import { propertyParameter } from './rules.ts';

export type MeasuredValue = { value: string; measured: Measured; counted: Counted };

export type Comparison = Awaited<ReturnType<typeof readComparison>>;

/**
 * Scores by the values of the property `by`, the highest first. The default is the property that most responses have,
 * or null if they have no properties other than the filtered ones.
 */
export async function readComparison(
  db: Db,
  orgId: string,
  { by: asked, ...selection }: Selection & { by: string | null },
) {
  const values = await findPropertyValues(db, orgId, ofDays(selection));
  const shares = new Map<string, number>();
  for (const { name, responses } of values) {
    if (propertyParameter(name) in selection.scope.properties) continue;
    shares.set(name, (shares.get(name) ?? 0) + responses);
  }
  const names = [...shares.keys()];
  const by = asked ?? names.toSorted((one, other) => shares.get(other)! - shares.get(one)!)[0];
  const compared = values.filter(({ name }) => name === by);
  const measuring = compared.map((each) => measureValue(db, orgId, selection, each));
  const measured = await Promise.all(measuring);
  const scoreOf = ({ measured: { value } }: MeasuredValue) => value ?? -Infinity;
  measured.sort((one, other) => scoreOf(other) - scoreOf(one));
  return { names, by: by ?? null, values: measured };
}

async function measureValue(
  sql: Sql,
  orgId: string,
  selection: Selection,
  { name, value }: PropertyValue,
): Promise<MeasuredValue> {
  const { scope: all, days } = ofDays(selection);
  const { from, to, timeZone } = days;
  const scope = { ...all, facets: [...all.facets, { kind: 'property', name, value } as const] };
  const rows = { timeZone, starts: [from], edges: [from, addDays(to, 1)], from: null, to: null };
  const { type } = selection.scope;
  const isMean = typeFacts(type).measure === 'mean';
  const { tallies, variance } = await countRows(sql, orgId, { scope, days, rows, isMean });
  const counted = tallies[0]!;
  return { value, measured: measure(type, counted, variance), counted };
}

type PropertyValue = { name: string; value: string; responses: number };

/** Properties and values come from a sample of the newest responses. */
export const sampledResponses = 1_000;
const maxValues = 12;
const maxValueLength = 100;

export async function findPropertyValues(sql: Sql, orgId: string, { scope, days }: OfDays) {
  return await sql<PropertyValue[]>`
    with sampled as materialized (
      select id
      from ${countedRows(sql, orgId, scope)}
        and ${onDays(sql, sql`created_at`, days)}
      order by created_at desc, id desc
      limit ${sampledResponses}
    ), counted as (
      select property.key as name, property.value, count(*) as responses,
             row_number() over (partition by property.key order by count(*) desc, property.value) as place
      from sampled
      join responses r on r.org_id = ${orgId} and r.id = sampled.id
      cross join lateral jsonb_each_text(r.properties) property
      where property.value <> '' and length(property.value) <= ${maxValueLength}
      group by 1, 2
    )
    select name, value, responses::int as responses from counted where place <= ${maxValues} order by name, place`;
}
