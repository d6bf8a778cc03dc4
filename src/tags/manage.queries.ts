import { one, type Sql } from '../lib/db/db.ts';

type NewTag = { name: string; color: string };
export type SavedTag = NewTag & { id: string; created_at: Date };

export async function insertTag(sql: Sql, orgId: string, tag: NewTag): Promise<SavedTag> {
  return one(
    await sql<SavedTag[]>`
      insert into tags (org_id, name, color)
      values (${orgId}, ${tag.name}, ${tag.color})
      returning id, name, color, created_at`,
  );
}

export async function allTags(sql: Sql, orgId: string): Promise<SavedTag[]> {
  return await sql<SavedTag[]>`
    select id, name, color, created_at
    from tags
    where org_id = ${orgId}
    order by lower(name) collate "C", name collate "C"`;
}
