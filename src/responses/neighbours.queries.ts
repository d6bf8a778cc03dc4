import type { Sql } from '../lib/db/db.ts';
import type { Position } from '../lib/paging/page.ts';
import { filteredRows, type ResponseFilter } from './filter.cte.ts';
import { matched } from './queries.ts';

type NextOf = { filter: ResponseFilter; position: Position; way: 'newer' | 'older' };

/** The response of a filtered list that comes next after a position, on the way to newer or to older ones. */
export async function findNext(
  sql: Sql,
  orgId: string,
  { filter, position, way }: NextOf,
): Promise<string | undefined> {
  const { pattern } = filter;
  const place = sql`(${position.at}::text::timestamptz, ${position.id}::uuid)`;
  const [found] = await sql<{ id: string }[]>`
    ${pattern === null ? sql`` : sql`with ${matched(sql, orgId, filter, pattern)}`}
    select r.id
    from ${pattern === null ? filteredRows(sql, orgId, filter, way) : sql`matched r where true`}
    ${
      way === 'newer'
        ? sql`and (r.created_at, r.id) > ${place} order by r.created_at, r.id`
        : sql`and (r.created_at, r.id) < ${place} order by r.created_at desc, r.id desc`
    }
    limit 1`;
  return found?.id;
}
