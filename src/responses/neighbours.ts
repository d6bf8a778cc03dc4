import type { Db, Sql } from '../lib/db/db.ts';
import type { Position } from '../lib/paging/page.ts';
import type { ResponseFilter } from './filter.cte.ts';
import { findNext } from './neighbours.queries.ts';
import { runSearch } from './search.ts';

/** The ids of the responses next to one in a filtered list. */
export type Neighbours = { newer: string | undefined; older: string | undefined };

type Wanted = { filter: ResponseFilter; position: Position; callerGone: AbortSignal };

/** A response that has left the list, because it is done for example, still has its place there by its time. */
export async function findNeighbours(
  db: Db,
  orgId: string,
  { filter, position, callerGone }: Wanted,
): Promise<Neighbours> {
  const read = async (sql: Sql) => {
    const [newer, older] = await Promise.all([
      findNext(sql, orgId, { filter, position, way: 'newer' }),
      findNext(sql, orgId, { filter, position, way: 'older' }),
    ]);
    return { newer, older };
  };
  return filter.pattern === null ? await read(db) : await runSearch(db, callerGone, read);
}
