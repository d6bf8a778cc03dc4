import { randomUUID } from 'node:crypto';
import { recordAct, type Writer } from '../audit/acts.ts';
import { listErased } from '../contacts/erase.ts';
import { saveContacts } from '../contacts/queries.ts';
import {
  type CheckedContact,
  checkContact,
  contactHeaders,
  describeRowError,
  joinLines,
  validateProperties,
} from '../contacts/rules.ts';
import { validateMerges } from '../contacts/save.ts';
import { notFound } from '../errors.ts';
import {
  type BadLine,
  type CsvColumn,
  type CsvRecord,
  field,
  readCsv,
  refuseBadLines,
} from '../lib/cli/csv.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { isInCalendar } from '../lib/validation/parse.ts';
import { isLongerThan, maxCommentLength } from '../limits.ts';
import type { Question } from '../questions/definition.ts';
import { wordsOf } from '../questions/erase.ts';
import {
  createSamples,
  ensureQuestions,
  type ImportedCells,
  insertImportedAnswers,
  questionText,
} from '../questions/import.ts';
import { inRetriedTransaction } from '../sends/mail-job.ts';
import { type Category, categoryOf, isScore, type SurveyType, typeFacts } from '../survey-types.ts';
import { getOrgSurvey, holdOffErasures, lockSurvey, type OrgSurvey } from '../surveys/queries.ts';
import { ensureTags } from '../tags/tags.ts';
import { insertWaiting } from './waiting-analyses.ts';

const batchSize = 1000;
const scoreColumns = ['score', 'rating'];
const timeColumns = ['createdat', 'respondedat', 'date', 'timestamp', 'submittedat'];
const commentColumns = ['comment', 'feedback', 'answer'];
const questionColumn = /^\s*question:\s*/i;
/** Other columns become properties of the response and of its person. */
const responseColumns = [
  ...scoreColumns,
  ...timeColumns,
  ...commentColumns,
  ...contactHeaders.email,
  ...contactHeaders.name,
];

type ImportTools = {
  db: Db;
  onProgress: (done: number, total: number) => void;
};
/**
 * Imports all responses with their original times, or none of them. Imported responses count and are analyzed, but
 * publish no events and complete no survey. Skips rows that were imported before, and rows of erased people (`erased`).
 */
export async function importResponses(
  tools: ImportTools,
  survey: Writer & { surveyId: string },
  text: string,
) {
  const { type } = await getOrgSurvey(tools.db, survey.orgId, survey.surveyId);
  const responses = numberDuplicates(await readResponses(text, type));
  const { add, samples } = createSamples();
  for (const { answers } of responses) add(answers);
  const questions = await ensureQuestions(tools.db, survey, samples);
  return await inRetriedTransaction(tools.db, async (tx) => {
    await holdOffErasures(tx, survey.orgId);
    let [imported, erased] = [0, 0];
    for (let done = 0; done < responses.length; done += batchSize) {
      const batch = responses.slice(done, done + batchSize);
      const keys = batch.flatMap(({ person }) => person?.key ?? []);
      const erasedKeys = await listErased(tx, survey.orgId, keys);
      const rest = batch.filter(({ person }) => !person || !erasedKeys.has(person.key));
      erased += batch.length - rest.length;
      imported += (await importRows(tx, { ...survey, questions }, rest)).length;
      tools.onProgress(done + batch.length, responses.length);
    }
    const target = { kind: 'survey', id: survey.surveyId };
    await recordAct(tx, { ...survey, act: 'responses.imported', target, details: { imported } });
    return { imported, passed_over: responses.length - imported, erased };
  });
}

/** Numbers equal rows across the whole file, because it is imported in batches. */
function numberDuplicates(answers: readonly PersonsResponse[]): PersonsResponse[] {
  const counts = new Map<string, number>();
  return answers.map((answer) => {
    const { score, created_at, comment, person } = answer;
    const key = JSON.stringify([score, created_at, comment, person?.key]);
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    return { ...answer, occurrence };
  });
}

type ImportedSurvey = OrgSurvey & { questions?: ReadonlyMap<string, Question> };

/** Saves people, responses and answers. Returns the ids of new responses. */
async function importRows(
  tx: Sql,
  { questions, ...survey }: ImportedSurvey,
  responses: readonly PersonsResponse[],
) {
  const idOf = await savePeople(tx, survey, responses);
  const ids = responses.map(({ id }) => id ?? randomUUID());
  const rows = responses.map(({ person, answers: _answers, ...response }, at) => ({
    ...response,
    id: response.id ?? ids[at]!,
    properties: response.properties ?? person?.properties ?? null,
    contact_id: (person && idOf.get(person.key)) ?? null,
  }));
  const inserted = await insertImported(tx, survey, rows);
  const isNew = new Set(inserted);
  const answered = responses.map(({ answers: cells }, at) => ({ id: ids[at]!, cells }));
  const newAnswers = answered.filter(({ id }) => isNew.has(id));
  await insertImportedAnswers(tx, survey.orgId, newAnswers, questions ?? new Map());
  await insertWaitingImported(tx, survey.orgId, inserted);
  return inserted;
}

async function readResponses(text: string, type: SurveyType) {
  const bad: BadLine[] = [];
  const { columns, records } = await readCsv(text);
  const asked = columns.filter(({ name }) => questionColumn.test(name));
  const others = columns.filter(
    ({ key, name }) => !responseColumns.includes(key) && !questionColumn.test(name),
  );
  const answers = records.flatMap((record) => {
    const answer = readResponse(record, type, { others, asked });
    if (typeof answer !== 'string') return [answer];
    bad.push({ line: record.line, complaint: answer });
    return [];
  });
  refuseBadLines(bad);
  return answers;
}

function readResponse(
  record: CsvRecord,
  type: SurveyType,
  { others, asked }: Record<'others' | 'asked', readonly CsvColumn[]>,
): PersonsResponse | string {
  const scoreText = field(record, ...scoreColumns);
  const score = Number(scoreText);
  const { lowest, highest } = typeFacts(type);
  if (scoreText === null) return 'the score is missing';
  if (!isScore(type, score)) return `the score ${scoreText} is not from ${lowest} to ${highest}`;

  const time = field(record, ...timeColumns);
  const created_at = readTime(time);
  if (!created_at) return time ? `${JSON.stringify(time)} ${notTime}` : 'the time is missing';

  const email = field(record, ...contactHeaders.email);
  const name = field(record, ...contactHeaders.name);
  const properties = Object.fromEntries(
    others.flatMap(({ name, key }) => {
      const value = field(record, key);
      return value ? [[name, value]] : [];
    }),
  );
  const complaint = validateProperties(properties);
  if (complaint) return `the properties ${complaint}`;
  const person = email ? checkContact({ email, name: name && joinLines(name), properties }) : null;
  if (person && 'complaint' in person) return describeRowError(person, email);
  const comment = field(record, ...commentColumns);
  if (comment && isLongerThan(comment, maxCommentLength)) {
    return `the comment has more than ${maxCommentLength} characters`;
  }
  const answers = Object.fromEntries(
    asked.flatMap(({ name, key }) => {
      const value = field(record, key);
      return value ? [[questionText(name.replace(questionColumn, '')), value]] : [];
    }),
  );
  const category = categoryOf(type, score);
  return { score, category, comment, properties, created_at, person, answers };
}

const notTime = 'is not a time such as 2026-01-31 or 2026-01-31 09:30:00 UTC';

/** ISO 8601 or common export formats; UTC by default. Rejects future times and ambiguous days such as 05/01/2026. */
function readTime(text: string | null): Date | null {
  if (!text || /^\d{1,2}[/.-]\d{1,2}[/.-]\d/.test(text)) return null;
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  if (day && !isInCalendar(day)) return null;
  if (/^\d{9,10}$/.test(text)) return new Date(Number(text) * 1000);
  const zoned = /(?:z|utc|gmt|[+-]\d{2}:?\d{2})$/i.test(text);
  const time = new Date(zoned ? text : `${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}`);
  return Number.isNaN(time.getTime()) || time.getTime() > Date.now() + 86_400_000 ? null : time;
}

type PersonsResponse = Omit<ImportedResponse, 'contact_id'> & {
  person: CheckedContact | null;
  answers?: ImportedCells;
};

export type ForeignResponse = PersonsResponse & {
  tags: readonly string[];
  note: string | null;
};

export type ImportWriter = Writer & {
  surveyId: string;
  author: string;
  questions?: ReadonlyMap<string, Question>;
};

/**
 * Like `importResponses`, but in the caller's transaction, and with tags and notes. Existing responses stay unchanged.
 */
export async function importBatch(
  tx: Sql,
  writer: ImportWriter,
  responses: readonly ForeignResponse[],
): Promise<number> {
  const { orgId, surveyId, questions = new Map() } = writer;
  const survey = { orgId, surveyId, questions };
  // The lock keeps two concurrent imports of a file from both inserting its responses.
  if (!(await lockSurvey(tx, survey.orgId, survey.surveyId))) throw notFound('survey');
  const rows = responses.map((response) => ({ ...response, id: randomUUID() }));
  const persons = rows.map(({ tags: _tags, note: _note, ...row }) => row);
  const added = new Set(await importRows(tx, survey, persons));
  const newRows = rows.filter(({ id }) => added.has(id));
  await saveTags(tx, writer, newRows);
  await saveNotes(tx, writer, newRows);
  return added.size;
}

async function savePeople(tx: Sql, survey: OrgSurvey, responses: readonly PersonsResponse[]) {
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
function peopleOf(responses: readonly PersonsResponse[]) {
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

type NewRow = { id: string; tags: readonly string[]; note: string | null };

async function saveTags(tx: Sql, writer: ImportWriter, rows: readonly NewRow[]) {
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
async function saveNotes(tx: Sql, { orgId, author }: ImportWriter, rows: readonly NewRow[]) {
  const noted = rows.filter(({ note }) => note);
  if (noted.length === 0) return;
  await tx`
    insert into response_notes (org_id, response_id, text, author, author_kind, created_at)
    select ${orgId}, r.id, n.text, ${author}, 'command', r.created_at
    from unnest(${noted.map(({ id }) => id)}::uuid[], ${noted.map(({ note }) => note)}::text[])
      as n (response_id, text)
    join responses r on r.org_id = ${orgId} and r.id = n.response_id`;
}

type ImportedResponse = {
  /** Generated by Postgres if missing. */
  id?: string;
  contact_id: string | null;
  score: number;
  category: Category;
  comment: string | null;
  properties?: Record<string, unknown> | null;
  created_at: Date;
  /** Number among equal responses, from 1 (default). */
  occurrence?: number;
};

/** Skips existing responses and returns the ids of new ones. Equal rows of a file are separate responses. */
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
