import { randomUUID } from 'node:crypto';
import type { Writer } from '../audit/acts.ts';
import { saveContacts } from '../contacts/queries.ts';
import { type CheckedContact, validateProperties } from '../contacts/rules.ts';
import { validateMerges } from '../contacts/save.ts';
import { notFound } from '../errors.ts';
import type { ImportedResponse } from '../importers/rows.ts';
import type { Sql } from '../lib/db/db.ts';
import type { Question } from '../questions/definition.ts';
import { wordsOf } from '../questions/erase.ts';
import { insertImportedAnswers } from '../questions/import.ts';
import { lockSurvey, type OrgSurvey } from '../surveys/queries.ts';
import { ensureTags } from '../tags/tags.ts';
import { insertWaiting } from './waiting-analyses.ts';

/** `occurrence` numbers equal responses, from 1. */
export type NumberedResponse = ImportedResponse & { occurrence: number };

export type ImportWriter = Writer & {
  surveyId: string;
  author: string;
  questions?: ReadonlyMap<string, Question>;
};

/**
 * Imports responses with their original times, people, answers, tags and notes. They count and are analyzed, but publish
 * no events and complete no survey. Existing responses stay unchanged. Returns the number of new responses.
 */
export async function importBatch(
  tx: Sql,
  writer: ImportWriter,
  responses: readonly NumberedResponse[],
): Promise<number> {
  const { orgId, surveyId } = writer;
  const survey = { orgId, surveyId };
  // The lock keeps two concurrent imports of a file from both inserting its responses.
  if (!(await lockSurvey(tx, orgId, surveyId))) throw notFound('survey');
  const idOf = await savePeople(tx, survey, responses);
  const rows = responses.map(({ person, ...response }) => ({
    ...response,
    id: randomUUID(),
    contact_id: (person && idOf.get(person.key)) ?? null,
  }));
  const inserted = await insertImported(tx, survey, rows);
  const newRows = rows.filter(({ id }) => inserted.has(id));
  await insertImportedAnswers(tx, orgId, newRows, writer.questions ?? new Map());
  await insertWaitingImported(tx, orgId, [...inserted]);
  await saveTags(tx, writer, newRows);
  await saveNotes(tx, writer, newRows);
  return inserted.size;
}

async function savePeople(tx: Sql, survey: OrgSurvey, responses: readonly NumberedResponse[]) {
  const people = [...peopleOf(responses).values()];
  const overfull = await validateMerges(tx, survey, people);
  const contacts = people.map(({ key, ...person }) =>
    overfull.has(key) ? { ...person, properties: {} } : person,
  );
  const saved = await saveContacts(tx, survey, contacts);
  return new Map(saved.map(({ key, id }) => [key, id]));
}

type AnsweringPerson = CheckedContact & { status: 'responded'; responded_at: Date };

/** One entry per person. Later responses win. */
function peopleOf(responses: readonly NumberedResponse[]) {
  const people = new Map<string, AnsweringPerson>();
  const inTime = [...responses].sort((one, other) => +one.created_at - +other.created_at);
  for (const { person, created_at } of inTime) {
    if (!person) continue;
    const earlier = people.get(person.key);
    const merged = { ...earlier?.properties, ...person.properties };
    people.set(person.key, {
      ...person,
      email: earlier?.email ?? person.email,
      name: person.name ?? earlier?.name ?? null,
      properties: validateProperties(merged) ? person.properties : merged,
      status: 'responded',
      responded_at: created_at,
    });
  }
  return people;
}

async function saveTags(tx: Sql, writer: ImportWriter, rows: readonly NewResponse[]) {
  const names = new Set(rows.flatMap(({ tags }) => tags));
  if (names.size === 0) return;
  const idOf = await ensureTags(tx, writer, [...names]);
  const tags = rows.flatMap(({ id, tags }) => tags.map((name) => [id, idOf.get(name)!] as const));
  await tx`
    insert into response_tags (org_id, response_id, tag_id)
    select ${writer.orgId}, response_id, tag_id
    from unnest(${tags.map(([id]) => id)}::uuid[], ${tags.map(([, tagId]) => tagId)}::uuid[])
      as t (response_id, tag_id)
    on conflict do nothing`;
}

/** Imported notes get the time of their response, because their own is unknown. */
async function saveNotes(tx: Sql, { orgId, author }: ImportWriter, rows: readonly NewResponse[]) {
  const noted = rows.filter(({ note }) => note);
  if (noted.length === 0) return;
  await tx`
    insert into response_notes (org_id, response_id, text, author, author_kind, created_at)
    select ${orgId}, r.id, n.text, ${author}, 'command', r.created_at
    from unnest(${noted.map(({ id }) => id)}::uuid[], ${noted.map(({ note }) => note)}::text[])
      as n (response_id, text)
    join responses r on r.org_id = ${orgId} and r.id = n.response_id`;
}

type NewResponse = Omit<NumberedResponse, 'person'> & { id: string; contact_id: string | null };

/** Skips existing responses and returns the ids of new ones. Equal rows of a file are separate responses. */
async function insertImported(
  sql: Sql,
  { orgId, surveyId }: OrgSurvey,
  responses: readonly NewResponse[],
): Promise<ReadonlySet<string>> {
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
    select ${orgId}, ${surveyId}, a.id, a.contact_id, 'import', a.score, a.category,
           a.comment, a.properties, a.created_at
    from given a
    left join known k using (created_at, score, of, said)
    where a.occurrence > coalesce(k.count, 0)
    returning id`;
  return new Set(inserted.map(({ id }) => id));
}

export async function insertWaitingImported(sql: Sql, orgId: string, ids: readonly string[]) {
  await insertWaiting(
    sql,
    sql`
    select org_id, id, null::text
    from responses r
    where org_id = ${orgId} and id = any (${[...ids]}::uuid[]) and coalesce(comment, ${wordsOf(sql)}) is not null
    order by created_at`,
    { isHistory: true },
  );
}
