import { randomUUID } from 'node:crypto';
import type { Writer } from '../audit/actor.ts';
import { type AnsweredContact, saveAnswered } from '../contacts/answered.queries.ts';
import { listByAddress } from '../contacts/many.queries.ts';
import { complainOfMerges } from '../contacts/merge.ts';
import { type CheckedContact, complainOfProperties } from '../contacts/rules.ts';
import { notFound } from '../errors.ts';
import type { Sql } from '../lib/db/db.ts';
import { lockSurvey, type OrgSurvey } from '../surveys/queries.ts';
import { ensureTags } from '../tags/manage.ts';
import {
  type ImportedResponse,
  insertImported,
  insertImportedNotes,
  insertImportedTags,
  insertWaitingImported,
} from './import.queries.ts';

/** A response from another service, with what that service knows of it. */
export type ForeignResponse = Omit<ImportedResponse, 'id' | 'contact_id'> & {
  person: CheckedContact | null;
  tags: readonly string[];
  note: string | null;
};

export type ImportWriter = Writer & { surveyId: string; author: string };

/**
 * Takes over some responses in the caller's transaction, with their times, people, tags and notes. They publish no
 * event and complete nothing. One that is there already changes nothing, nor do its tags and its note.
 */
export async function importBatch(
  tx: Sql,
  writer: ImportWriter,
  responses: readonly ForeignResponse[],
): Promise<number> {
  const survey = { orgId: writer.orgId, surveyId: writer.surveyId };
  // Two imports of one file at the same time would each take the other's responses for missing.
  if (!(await lockSurvey(tx, survey.orgId, survey.surveyId))) throw notFound('survey');
  const idOf = await savePeople(tx, survey, responses);
  const rows = responses.map(({ person, tags, note, ...response }) => ({
    row: { ...response, id: randomUUID(), contact_id: (person && idOf.get(person.key)) ?? null },
    tags,
    note,
  }));
  const inserted = await insertImported(
    tx,
    survey,
    rows.map(({ row }) => row),
  );
  const added = new Set(inserted);
  await saveExtras(
    tx,
    writer,
    rows.filter(({ row }) => added.has(row.id)),
  );
  await insertWaitingImported(tx, survey.orgId, inserted);
  return inserted.length;
}

async function savePeople(tx: Sql, survey: OrgSurvey, responses: readonly ForeignResponse[]) {
  const people = peopleOf(responses);
  const keys = [...people.keys()];
  if (keys.length === 0) return new Map<string, string>();
  const overfull = await complainOfMerges(tx, survey, [...people.values()]);
  const contacts = [...people.values()].map(({ key, ...person }) =>
    overfull.has(key) ? { ...person, properties: {} } : person,
  );
  await saveAnswered(tx, survey, contacts);
  const found = await listByAddress(tx, survey, keys);
  return new Map(found.map(({ key, id }) => [key, id]));
}

type AnsweringPerson = AnsweredContact & { key: string };

/** Each person once; what a later response says of the person wins. */
function peopleOf(responses: readonly ForeignResponse[]) {
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
      properties: complainOfProperties(merged) ? person.properties : merged,
      responded_at: created_at,
    });
  }
  return people;
}

type NewRow = { row: { id: string }; tags: readonly string[]; note: string | null };

async function saveExtras(tx: Sql, writer: ImportWriter, rows: readonly NewRow[]) {
  const names = [...new Set(rows.flatMap(({ tags }) => tags))];
  if (names.length > 0) {
    const idOf = await ensureTags(tx, writer, names);
    const tagged = rows.flatMap(({ row, tags }) =>
      tags.map((name) => ({ response_id: row.id, tag_id: idOf.get(name)! })),
    );
    await insertImportedTags(tx, writer.orgId, tagged);
  }
  const notes = rows.flatMap(({ row, note: text }) =>
    text ? [{ response_id: row.id, text }] : [],
  );
  if (notes.length > 0) await insertImportedNotes(tx, writer, notes);
}
