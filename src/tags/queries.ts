import { notFound } from '../errors.ts';
import { one, type Part, type Sql } from '../lib/db/db.ts';
import type { OrgId } from '../org-id.ts';

export type NewTag = { name: string; color: string };
export type TagRow = NewTag & { id: string; created_at: Date };

/** Locks the organization, so that its tags are counted one at a time. */
export async function lockAndCountTags(sql: Sql, orgId: string): Promise<number> {
  const locked = await sql`select from organizations where id = ${orgId} for no key update`;
  if (locked.length === 0) throw notFound('organization');
  return one(
    await sql<{ count: number }[]>`select count(*)::int as count from tags where org_id = ${orgId}`,
  ).count;
}

export async function insertTag(sql: Sql, orgId: string, tag: NewTag): Promise<TagRow> {
  return one(
    await sql<TagRow[]>`
      insert into tags (org_id, name, color)
      values (${orgId}, ${tag.name}, ${tag.color})
      returning id, name, color, created_at`,
  );
}

export async function insertMissingTags(
  sql: Sql,
  orgId: string,
  { names, color }: { names: readonly string[]; color: string },
) {
  return await sql<TagRow[]>`
    insert into tags (org_id, name, color)
    select distinct on (lower(wanted.name)) ${orgId}::uuid, wanted.name, ${color}
    from unnest(${[...names]}::text[]) with ordinality wanted (name, place)
    where not exists (
      select from tags t where t.org_id = ${orgId} and lower(t.name) = lower(wanted.name)
    )
    order by lower(wanted.name), place
    on conflict (org_id, name) do nothing
    returning id, name, color, created_at`;
}

/** The tag of each of these names: the one of exactly this spelling before the oldest of any other. */
export async function findNamedTags(sql: Sql, orgId: string, names: readonly string[]) {
  return await sql<{ name: string; id: string }[]>`
    select wanted.name, t.id
    from unnest(${[...names]}::text[]) wanted (name)
    cross join lateral (
      select id
      from tags t
      where t.org_id = ${orgId} and lower(t.name) = lower(wanted.name)
      order by t.name = wanted.name desc, t.created_at, t.id
      limit 1
    ) t`;
}

/** Whether the change made the tag different. */
type ChangedTag = TagRow & { differs: boolean };

export async function updateTag(
  sql: Sql,
  { orgId, id }: { orgId: string; id: string },
  { name, color }: { name: string | null; color: string | null },
): Promise<ChangedTag | undefined> {
  const [row] = await sql<ChangedTag[]>`
    update tags t
    set name = coalesce(${name}, before.name), color = coalesce(${color}, before.color)
    from (
      select id, name, color from tags where org_id = ${orgId} and id = ${id} for no key update
    ) before
    where t.org_id = ${orgId} and t.id = before.id
    returning t.id, t.name, t.color, t.created_at,
              (t.name, t.color) is distinct from (before.name, before.color) as differs`;
  return row;
}

export async function removeTag(sql: Sql, orgId: string, id: string): Promise<TagRow | undefined> {
  const [row] = await sql<TagRow[]>`
    delete from tags
    where org_id = ${orgId} and id = ${id}
    returning id, name, color, created_at`;
  return row;
}

/** The organization of a tag that the operator names by its id alone. */
export async function findOrganizationOfTag(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ org_id: string }[]>`
    -- all organizations
    select org_id from tags where id = ${id}`;
  return row?.org_id;
}

/** By code points, so that every database sorts them alike. */
export async function listTags(sql: Sql, orgId: string): Promise<TagRow[]> {
  return await sql<TagRow[]>`
    select id, name, color, created_at
    from tags
    where org_id = ${orgId}
    order by lower(name) collate "C", name collate "C"`;
}

/** The same as the body of the API's answer. */
export const tagsJson = (sql: Sql, orgId: OrgId): Part => sql`(
  select '{"data":['
         || coalesce(string_agg(row_to_json(item)::text, ',' order by lower(t.name) collate "C", t.name collate "C"), '')
         || '],"meta":{"total":' || count(*) || '}}'
  from tags t
  cross join lateral (select t.id, t.name, t.color, iso(t.created_at) as created_at) item
  where t.org_id = ${orgId}
)`;
