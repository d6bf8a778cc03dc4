import type { Sql } from '../lib/db/db.ts';
import type { Category, SurveyType } from '../scores.ts';
import type { OrgSurvey } from '../surveys/queries.ts';
import { insertWaiting } from './waiting-analyses.cte.ts';

export async function findSurveyType(sql: Sql, orgId: string, surveyId: string) {
  const [survey] = await sql<{ type: SurveyType }[]>`
    select type from surveys where org_id = ${orgId} and id = ${surveyId}`;
  return survey?.type;
}

export type ImportedResponse = {
  /** A new one, by which the caller knows the response again; without one Postgres makes it. */
  id?: string;
  contact_id: string | null;
  score: number;
  category: Category;
  comment: string | null;
  /** Of a response without a contact. */
  properties?: Record<string, unknown> | null;
  created_at: Date;
  /** Counts equal responses from 1; 1 when it is not given. */
  occurrence?: number;
};

/**
 * Inserts responses from elsewhere, except those that are there already, and returns the ids of the new ones. Of
 * equal responses (anonymous ones of the same day, for example) as many are kept as the file has.
 */
export async function insertImported(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  responses: readonly ImportedResponse[],
): Promise<string[]> {
  const inserted = await sql<{ id: string }[]>`
    with given as (
      select a.id, contact_id, score, category, hidden.comment, properties, created_at, occurrence,
             coalesce(contact_id::text, '') as of, coalesce(hidden.comment, '') as said
      from json_to_recordset(${JSON.stringify(responses)}::text::json) as a (
        id uuid, contact_id uuid, score smallint, category text, comment text, properties jsonb,
        created_at timestamptz, occurrence integer)
      cross join lateral (select hide_erased(${orgId}, a.comment) as comment) hidden
    ), known as (
      select created_at, score, coalesce(contact_id::text, '') as of, coalesce(comment, '') as said, count(*)
      from responses
      where org_id = ${orgId} and survey_id = ${surveyId} and held_reason is null
        and created_at = any (array(select distinct created_at from given))
      group by created_at, score, of, said
    )
    insert into responses (org_id, survey_id, id, contact_id, source, score, category, comment, properties, created_at)
    select ${orgId}, ${surveyId}, coalesce(a.id, gen_random_uuid()), a.contact_id, 'import', a.score, a.category,
           a.comment, a.properties, a.created_at
    from given a
    left join known k using (created_at, score, of, said)
    where coalesce(a.occurrence, 1) > coalesce(k.count, 0)
    returning id`;
  return inserted.map(({ id }) => id);
}

/** Asks for an analysis of each that has a comment, where the organization wants it: after what is new. */
export async function insertWaitingImported(sql: Sql, orgId: string, ids: readonly string[]) {
  await insertWaiting(
    sql,
    { isHistory: true },
    sql`
    select org_id, id
    from responses
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[]) and comment is not null
    order by created_at`,
  );
}

export type ImportedTag = { response_id: string; tag_id: string };

export async function insertImportedTags(sql: Sql, orgId: string, tags: readonly ImportedTag[]) {
  await sql`
    insert into response_tags (org_id, response_id, tag_id)
    select ${orgId}, response_id, tag_id
    from unnest(${tags.map((tag) => tag.response_id)}::uuid[], ${tags.map((tag) => tag.tag_id)}::uuid[])
      as t (response_id, tag_id)
    on conflict do nothing`;
}

export type ImportedNote = { response_id: string; text: string };

/** Notes that were written elsewhere, at the time of their responses: their own time is not known. */
export async function insertImportedNotes(
  sql: Sql,
  { orgId, author }: { orgId: string; author: string },
  notes: readonly ImportedNote[],
) {
  await sql`
    insert into response_notes (org_id, response_id, text, author, author_kind, created_at)
    select ${orgId}, r.id, n.text, ${author}, 'command', r.created_at
    from unnest(${notes.map((note) => note.response_id)}::uuid[], ${notes.map((note) => note.text)}::text[])
      as n (response_id, text)
    join responses r on r.org_id = ${orgId} and r.id = n.response_id`;
}
