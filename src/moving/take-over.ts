import { createHash } from 'node:crypto';
import { recordAct } from '../audit/record.ts';
import { listErased } from '../contacts/erased.queries.ts';
import { complainOfMerges } from '../contacts/merge.ts';
import type { CheckedContact } from '../contacts/rules.ts';
import { saveUploaded } from '../contacts/upload.queries.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { type ImportWriter, importBatch } from '../responses/import-batch.ts';
import { suppressMany } from '../suppressions/unsubscribe.ts';
import { lockForContacts } from '../surveys/lifecycle.ts';
import { holdOffErasures, reopenSurvey } from '../surveys/queries.ts';
import type { MovedResponse, MovedSuppression, ReadRow } from './row.rules.ts';

const batchSize = 500;

export type TakenOver = {
  responses: number;
  contacts: number;
  unsubscribed: number;
  bounced: number;
  /** Rows of people who were erased. */
  erased: number;
};

type TakeOverTools = { db: Db; onProgress: (done: number) => void };

/**
 * Takes over the rows of an export in batches, each in a transaction of its own: when it ends halfway, what was taken
 * over stays, and the same import continues. Rows that are there already change nothing.
 */
export async function takeOver(
  { db, onProgress }: TakeOverTools,
  writer: ImportWriter,
  rows: AsyncIterable<ReadRow>,
): Promise<TakenOver> {
  const taken = nothingTaken();
  const number = createNumbering();
  let done = 0;
  let isRecorded = false;
  for await (const batch of batches(rows)) {
    const added = await inTransaction(db, async (tx) => {
      const counts = await takeBatch(tx, writer, numbered(batch, number));
      const { erased: _, ...added } = counts;
      const isNew = Object.values(added).some((count) => count > 0);
      if (isNew && !isRecorded) await recordImport(tx, writer, batch[0]!);
      isRecorded ||= isNew;
      return counts;
    });
    for (const key of Object.keys(taken) as (keyof TakenOver)[]) taken[key] += added[key];
    done += batch.length;
    onProgress(done);
  }
  return taken;
}

export const nothingTaken = (): TakenOver => ({
  responses: 0,
  contacts: 0,
  unsubscribed: 0,
  bounced: 0,
  erased: 0,
});

async function* batches(rows: AsyncIterable<ReadRow>) {
  let batch: ReadRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

type Batch = {
  responses: (MovedResponse & { occurrence: number })[];
  people: CheckedContact[];
  suppressions: MovedSuppression[];
};

function numbered(rows: readonly ReadRow[], number: (response: MovedResponse) => number): Batch {
  const batch: Batch = { responses: [], people: [], suppressions: [] };
  for (const row of rows) {
    if (row.kind === 'response') {
      batch.responses.push({ ...row.response, occurrence: number(row.response) });
    } else if (row.kind === 'person') batch.people.push(row.person);
    else if (row.kind === 'suppression') batch.suppressions.push(row.suppression);
  }
  return batch;
}

/** Numbers equal responses over the whole file by a hash: of a million, some ten megabytes are kept. */
function createNumbering() {
  const counts = new Map<string, number>();
  return ({ score, created_at, comment, person }: MovedResponse) => {
    const text = JSON.stringify([score, created_at, comment, person?.key ?? null]);
    const key = createHash('sha256').update(text).digest('latin1').slice(0, hashLength);
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    return occurrence;
  };
}

const hashLength = 12;

async function takeBatch(tx: Sql, writer: ImportWriter, given: Batch): Promise<TakenOver> {
  await holdOffErasures(tx, writer.orgId);
  const { batch, erased } = await leaveErasedOut(tx, writer.orgId, given);
  const suppressed = await suppressMany(tx, writer.orgId, onePerAddress(batch.suppressions));
  const unsubscribed = suppressed.filter(({ kind }) => kind === 'unsubscribed').length;
  return {
    unsubscribed,
    bounced: suppressed.length - unsubscribed,
    erased,
    contacts: await takePeople(tx, writer, batch.people),
    responses: batch.responses.length === 0 ? 0 : await importBatch(tx, writer, batch.responses),
  };
}

/** Nothing of a person who was erased comes back, not even to be suppressed: that it is already. */
async function leaveErasedOut(tx: Sql, orgId: string, { responses, people, suppressions }: Batch) {
  const known = [
    ...responses.flatMap(({ person }) => person?.key ?? []),
    ...people.map(({ key }) => key),
    ...suppressions.map(({ email }) => email),
  ];
  const erased = await listErased(tx, orgId, known);
  const batch = {
    responses: responses.filter(({ person }) => !person || !erased.has(person.key)),
    people: people.filter(({ key }) => !erased.has(key)),
    suppressions: suppressions.filter(({ email }) => !erased.has(email)),
  };
  const left = sizeOf({ responses, people, suppressions }) - sizeOf(batch);
  return { batch, erased: left };
}

const sizeOf = ({ responses, people, suppressions }: Batch) =>
  responses.length + people.length + suppressions.length;

function onePerAddress(suppressions: readonly MovedSuppression[]) {
  return [...new Map(suppressions.map((each) => [`${each.kind} ${each.email}`, each])).values()];
}

async function takePeople(tx: Sql, writer: ImportWriter, people: readonly CheckedContact[]) {
  if (people.length === 0) return 0;
  const survey = { orgId: writer.orgId, surveyId: writer.surveyId };
  await lockForContacts(tx, survey);
  const byKey = new Map<string, CheckedContact>();
  for (const person of people) {
    const name = person.name ?? byKey.get(person.key)?.name ?? null;
    byKey.set(person.key, { ...person, name });
  }
  const overfull = await complainOfMerges(tx, survey, [...byKey.values()]);
  const saved = [...byKey.values()].map((person) =>
    overfull.has(person.key) ? { ...person, properties: {} } : person,
  );
  const added = await saveUploaded(tx, survey, saved);
  if (added > 0) await reopenSurvey(tx, survey.orgId, survey.surveyId);
  return added;
}

async function recordImport(tx: Sql, writer: ImportWriter, { kind }: ReadRow) {
  const act = kind === 'response' ? 'responses.imported' : 'contacts.imported';
  const target = { kind: 'survey', id: writer.surveyId };
  await recordAct(tx, { ...writer, act, target, details: { from: writer.author } });
}
