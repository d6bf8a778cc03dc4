import type { Sql } from '../lib/db/db.ts';
import type { Position } from '../lib/paging/page.ts';
import { foundRows } from './facet-sets.cte.ts';
import { filteredRows, type ResponseFilter } from './filter.cte.ts';
import { readsSets, setRows } from './filter-sets.cte.ts';
import { itemJoins, itemText, matched, rowOf, surveyMembers } from './queries.ts';

type ExportStep = { filter: ResponseFilter; after: Position | null; limit: number };

/**
 * The items of the list after a position, as JSON Lines; `last` is the position of the last, undefined at the end. Surveys
 * and tags of all are read at once: looking them up for each takes a third of the time.
 */
export async function nextResponses(
  sql: Sql,
  orgId: string,
  { filter, after, limit }: ExportStep,
): Promise<{ lines: string; last: Position | undefined }> {
  const { pattern } = filter;
  const sets = readsSets(filter);
  const rows =
    pattern === null && !sets
      ? filteredRows(sql, orgId, filter)
      : sets
        ? sql`found where true`
        : sql`matched where true`;
  const page = { offset: 0, limit, after: after ?? undefined };
  const later = after
    ? sql`and (created_at, id) < (${after.at}::text::timestamptz, ${after.id}::uuid)`
    : sql``;
  const [found] = await sql<{ lines: string; rows: number; at: string; id: string }[]>`
    with ${pattern === null ? sql`` : sql`${matched(sql, orgId, filter, pattern)},`}
    ${sets ? sql`${foundRows(sql, orgId, { ...setRows(sql, orgId, filter), page, counts: false })},` : sql``}
    picked as materialized (
      select * from ${rows} ${later} order by created_at desc, id desc limit ${limit}::int
    ), last as (
      select created_at::text as at, id from picked order by created_at, id limit 1
    ),
    ${sharedParts(sql, orgId)}
    select coalesce(string_agg(${itemText(sql, shared(sql))}, E'\\n' order by p.created_at desc, p.id desc) || E'\\n', '') as lines,
           count(*)::int as rows, (select at from last), (select id from last)
    from picked p ${rowOf(sql, orgId, filter)}
    left join named s on s.id = r.survey_id
    left join tagged on tagged.response_id = r.id
    ${itemJoins(sql)}`;
  const { lines, rows: count, at, id } = found!;
  return { lines, last: count === limit ? { at, id } : undefined };
}

const shared = (sql: Sql) => ({ survey: sql`s.members`, tags: sql`coalesce(tagged.tags, '[]')` });

const sharedParts = (sql: Sql, orgId: string) => sql`
  named as materialized (
    select id, ${surveyMembers(sql)} as members from surveys where org_id = ${orgId}
  ), tagged as materialized (
    select rt.response_id,
           replace(
             json_agg(json_build_object('id', t.id, 'name', t.name, 'color', t.color)
                      order by lower(t.name) collate "C", t.name collate "C")::text,
             E'\\n', ' ') as tags
    from picked
    join response_tags rt on rt.org_id = ${orgId} and rt.response_id = picked.id
    join tags t on t.org_id = ${orgId} and t.id = rt.tag_id
    group by rt.response_id
  )`;
