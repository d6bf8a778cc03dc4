import type { Sql } from '../lib/db/db.ts';

export type TagRow = { id: string; name: string; color: string; created_at: Date };

/** By code points, so that every database sorts them alike. */
export function listTags(sql: Sql, orgId: string): Promise<TagRow[]> {
  return sql<TagRow[]>`
    select id, name, color, created_at
    from tags
    where org_id = ${orgId}
    order by lower(name) collate "C", name collate "C"`;
}
