import type { Part, Sql } from '../lib/db/db.ts';

export type PropertyValues = { name: string; values: string[] };

/** Pickers offer the values of the newest rows. */
export const sampledRows = 300;

const maxProperties = 20;
const maxValues = 20;
/** A property with more values is an id or a name, which nobody picks from a list. */
const maxDistinct = 100;
const maxValueLength = 100;

/** JSON of the most frequent `PropertyValues` in the column `properties` of a relation. */
export const frequentProperties = (sql: Sql, sampled: Part): Part => sql`(
  with counted as (
    select key as name, value, count(*) as found
    from ${sampled}
    cross join lateral jsonb_each_text(properties)
    where value <> '' and length(value) <= ${maxValueLength}
    group by 1, 2
  ), placed as (
    select *, row_number() over (partition by name order by found desc, value) as place,
           count(*) over (partition by name) as distinct_values,
           sum(found) over (partition by name) as total
    from counted
  ), properties as (
    select name, total, json_agg(value order by place) as values
    from placed
    where place <= ${maxValues} and distinct_values <= ${maxDistinct}
    group by name, total
    order by total desc, name
    limit ${maxProperties}
  )
  select coalesce(json_agg(json_build_object('name', name, 'values', values) order by name), '[]')
  from properties
)`;
