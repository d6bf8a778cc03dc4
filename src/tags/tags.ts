import { type AuditedAct, changesOf, recordAct, type Writer } from '../audit/acts.ts';
import { orNotFound, Refusal } from '../errors.ts';
import { type Db, inTransaction, one, type Part, type Sql, violates } from '../lib/db/db.ts';
import { type IfMatch, refuseOtherVersion, versionOf } from '../lib/http/version.ts';
import { maxTags, type OrgId } from '../limits.ts';
import { refuseAtLimit } from '../organizations/queries.ts';

export const defaultTagColor = '#5b6b8c';

type TagInput = { name: string; color?: string | undefined };
export type TagRow = { id: string; name: string; color: string; created_at: Date };

export async function createTag(
  db: Db,
  writer: Writer,
  { name, color = defaultTagColor }: TagInput,
): Promise<TagRow> {
  const { orgId } = writer;
  return await inTransaction(db, async (tx) => {
    await refuseAtLimit(tx, orgId, 'tags', maxTags);
    const tag = await insertTag(tx, orgId, { name, color }).catch(refuseDuplicate(name));
    await recordTag(tx, writer, { act: 'tag.created', tag });
    return tag;
  });
}

/** Ids of tags by name. Creates missing tags in the caller's transaction. Names are matched case-insensitively. */
export async function ensureTags(tx: Sql, writer: Writer, names: readonly string[]) {
  const created = await tx<TagRow[]>`
    insert into tags (org_id, name, color)
    select distinct on (lower(wanted.name)) ${writer.orgId}::uuid, wanted.name, ${defaultTagColor}
    from unnest(${[...names]}::text[]) with ordinality wanted (name, place)
    where not exists (
      select from tags t where t.org_id = ${writer.orgId} and lower(t.name) = lower(wanted.name)
    )
    order by lower(wanted.name), place
    on conflict (org_id, name) do nothing
    returning id, name, color, created_at`;
  for (const tag of created) await recordTag(tx, writer, { act: 'tag.created', tag });
  // Prefers a tag with exactly this spelling over the oldest tag with another spelling.
  const tags = await tx<{ name: string; id: string }[]>`
    select wanted.name, t.id
    from unnest(${[...names]}::text[]) wanted (name)
    cross join lateral (
      select id
      from tags t
      where t.org_id = ${writer.orgId} and lower(t.name) = lower(wanted.name)
      order by t.name = wanted.name desc, t.created_at, t.id
      limit 1
    ) t`;
  return new Map(tags.map(({ id, name }) => [name, id]));
}

type TagChange = { name?: string | undefined; color?: string | undefined };

export async function changeTag(
  db: Db,
  writer: Writer,
  { id, name, color, ifMatch }: TagChange & { id: string; ifMatch?: IfMatch },
): Promise<TagRow> {
  return await inTransaction(db, async (tx) => {
    const before = await getTag(tx, writer.orgId, id, { lock: true });
    refuseOtherVersion(versionOfTag(before), ifMatch);
    const changed = one(
      await tx<TagRow[]>`
        update tags
        set name = coalesce(${name ?? null}, name),
            color = case when lower(color) = lower(${color ?? null}) then color else coalesce(${color ?? null}, color) end
        where org_id = ${writer.orgId} and id = ${id}
        returning id, name, color, created_at`.catch(refuseDuplicate(name ?? '')),
    );
    const changes = changesOf(before, { name: changed.name, color: changed.color });
    if (Object.keys(changes).length > 0) {
      await recordTag(tx, writer, { act: 'tag.changed', tag: changed, details: { changes } });
    }
    return changed;
  });
}

export async function deleteTag(db: Db, writer: Writer, id: string): Promise<TagRow> {
  return await inTransaction(db, async (tx) => {
    const [deleted] = await tx<TagRow[]>`
      delete from tags
      where org_id = ${writer.orgId} and id = ${id}
      returning id, name, color, created_at`;
    const tag = orNotFound(deleted, 'tag');
    await recordTag(tx, writer, { act: 'tag.deleted', tag });
    return tag;
  });
}

type TagAct = Pick<AuditedAct, 'act' | 'details'> & { tag: TagRow };

const recordTag = (tx: Sql, writer: Writer, { act, tag: { id, name }, details }: TagAct) =>
  recordAct(tx, { ...writer, act, target: { kind: 'tag', id }, details: { name, ...details } });

const refuseDuplicate =
  (name: string) =>
  (error: unknown): never => {
    if (!violates(error, 'tags_one_per_name')) throw error;
    throw new Refusal('conflict', `the organization already has a tag named ${name}`, {
      code: 'name_taken',
    });
  };

export async function insertTag(sql: Sql, orgId: string, tag: Pick<TagRow, 'name' | 'color'>) {
  return one(
    await sql<TagRow[]>`
      insert into tags (org_id, name, color)
      values (${orgId}, ${tag.name}, ${tag.color})
      returning id, name, color, created_at`,
  );
}

export async function getTag(sql: Sql, orgId: string, id: string, { lock = false } = {}) {
  const [tag] = await sql<TagRow[]>`
    select id, name, color, created_at
    from tags
    where org_id = ${orgId} and id = ${id} ${lock ? sql`for no key update` : sql``}`;
  return orNotFound(tag, 'tag');
}

export const versionOfTag = (tag: TagRow) => versionOf(tag, ['name', 'color']);

/** Sorts by code points, the same in every database. */
export async function listTags(sql: Sql, orgId: string): Promise<TagRow[]> {
  return await sql<TagRow[]>`
    select id, name, color, created_at
    from tags
    where org_id = ${orgId}
    order by lower(name) collate "C", name collate "C"`;
}

/** The body of the API's response. */
export const tagsJson = (sql: Sql, orgId: OrgId): Part => sql`(
  select '{"data":['
         || coalesce(string_agg(row_to_json(item)::text, ',' order by lower(t.name) collate "C", t.name collate "C"), '')
         || '],"meta":{"total":' || count(*) || '}}'
  from tags t
  cross join lateral (select t.id, t.name, t.color, iso(t.created_at) as created_at) item
  where t.org_id = ${orgId}
)`;
