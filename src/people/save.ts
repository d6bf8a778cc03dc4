import type { Part, Sql } from '../lib/db/db.ts';
import { maxPropertiesBytes } from '../limits.ts';

export type PersonToSave = {
  email: string;
  name: string | null;
  properties: Record<string, unknown>;
  language?: string | null | undefined;
  created_at?: Date | undefined;
  /** Time of an imported answer. Later values of the person win. */
  responded_at?: Date | null | undefined;
};

/**
 * Adds people to the directory, or merges them into the people with the same addresses. An address must not occur twice
 * in `people`. Rows are written in the order of their addresses, and a person who does not change is not even locked.
 */
export async function savePeople(sql: Sql, orgId: string, people: readonly PersonToSave[]) {
  if (people.length === 0) return;
  const merged = mergeOf(sql, sql`p`, sql`excluded`);
  await sql`
    insert into people as p (org_id, email, name, properties, language, created_at, updated_at)
    select org_id, email, name, properties, language, created_at, updated_at
    from (
      select ${orgId}::uuid as org_id, email, name, properties,
             coalesce(language, ${languageIn(sql, sql`properties`)}) as language,
             coalesce(created_at, now()) as created_at, coalesce(responded_at, now()) as updated_at
      from json_to_recordset(${JSON.stringify(people)}::text::json)
        as given (email text, name text, properties jsonb, language text, created_at timestamptz, responded_at timestamptz)
    ) n
    where not exists (
      select
      from people p
      where p.org_id = ${orgId} and p.email_key = lower(n.email)
        and ${isChanged(sql, mergeOf(sql, sql`p`, sql`n`))} is not true
    )
    order by lower(email)
    on conflict (org_id, email_key) do update
      set name = ${merged.name}, properties = ${merged.properties}, language = ${merged.language},
          updated_at = greatest(p.updated_at, excluded.updated_at)
      where p.org_id = ${orgId} and ${isChanged(sql, merged)}`;
}

/** The property `language` sets the language of a person. */
export const languageIn = (sql: Sql, properties: Part): Part => sql`
  case when jsonb_typeof(${properties} -> 'language') = 'string'
       then nullif(left(trim(${properties} ->> 'language'), 35), '') end`;

/** Merges new values into a person `p`: the later ones win. If the merged properties would be too large, the later ones replace the earlier ones. */
function mergeOf(sql: Sql, p: Part, added: Part) {
  const isLatest = sql`${added}.updated_at >= ${p}.updated_at`;
  const latest = (one: Part, other: Part) =>
    sql`case when ${isLatest} then ${one} else ${other} end`;
  const pick = (column: Part) =>
    latest(
      sql`coalesce(${added}.${column}, ${p}.${column})`,
      sql`coalesce(${p}.${column}, ${added}.${column})`,
    );
  const both = latest(
    sql`${p}.properties || ${added}.properties`,
    sql`${added}.properties || ${p}.properties`,
  );
  const properties = sql`
    case when octet_length((${both})::text) <= ${maxPropertiesBytes} then ${both}
         else ${latest(sql`${added}.properties`, sql`${p}.properties`)} end`;
  const before = sql`(${p}.name, ${p}.properties, ${p}.language)`;
  return { name: pick(sql`name`), language: pick(sql`language`), properties, before };
}

const isChanged = (sql: Sql, { name, properties, language, before }: ReturnType<typeof mergeOf>) =>
  sql`((${name}, ${properties}, ${language}) is distinct from ${before})`;

/** Deletes the people that came with an upload, have not changed since and are on no survey. */
export async function deleteAddedPeople(sql: Sql, orgId: string, uploadId: string) {
  await sql`
    delete from people p
    where p.org_id = ${orgId} and p.updated_at = p.created_at
      and p.created_at = (select imported_at from contact_uploads where org_id = ${orgId} and id = ${uploadId})
      and not exists (select from contacts c where c.org_id = ${orgId} and c.email_key = p.email_key)`;
}
