import type { Writer } from '../audit/actor.ts';
import { recordAct } from '../audit/record.ts';
import { markAnsweredMany } from '../contacts/answered.queries.ts';
import { listErased } from '../contacts/erased.queries.ts';
import { saveContacts } from '../contacts/many.queries.ts';
import { checkContact, complaintOfLine, emailColumns, nameColumns } from '../contacts/rules.ts';
import { notFound } from '../errors.ts';
import { type BadLine, type CsvRecord, field, readCsv, refuseBadLines } from '../lib/cli/csv.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { isInCalendar } from '../lib/validation/calendar.ts';
import { isLongerThan, longestComment } from '../limits.ts';
import { categoryOf, isScore, type SurveyType, scaleOf } from '../scores.ts';
import { holdOffErasures, type OrgSurvey } from '../surveys/queries.ts';
import {
  findSurveyType,
  type ImportedResponse,
  insertImported,
  insertWaitingImported,
} from './import.queries.ts';

const batchSize = 1000;
const timeColumns = ['createdat', 'respondedat', 'date', 'timestamp', 'submittedat'];

type ImportTools = {
  db: Db;
  onProgress: (done: number, total: number) => void;
};
type FileResponse = Omit<ImportedResponse, 'contact_id'> & {
  email: string | null;
  name: string | null;
};

/**
 * Takes over answers given elsewhere, with their original times, all or none. They count like any
 * other, publish no event and complete nothing; their comments are analyzed. A line that was taken over before, or
 * is of a person who was erased, is passed over; the latter are also counted on their own.
 */
export async function importResponses(
  tools: ImportTools,
  survey: Writer & { surveyId: string },
  text: string,
) {
  const type = await findSurveyType(tools.db, survey.orgId, survey.surveyId);
  if (!type) throw notFound('survey');
  const answers = numberEqual(readResponses(text, type));
  return await inTransaction(tools.db, async (tx) => {
    await holdOffErasures(tx, survey.orgId);
    let [imported, erased] = [0, 0];
    for (let done = 0; done < answers.length; done += batchSize) {
      const some = answers.slice(done, done + batchSize);
      const kept = await leaveErasedOut(tx, survey.orgId, some);
      erased += some.length - kept.length;
      imported += await importSome(tx, survey, kept);
      tools.onProgress(done + some.length, answers.length);
    }
    const target = { kind: 'survey', id: survey.surveyId };
    await recordAct(tx, { ...survey, act: 'responses.imported', target, details: { imported } });
    return { imported, passed_over: answers.length - imported, erased };
  });
}

/** Numbers equal lines over the whole file, because the file is imported in batches. */
function numberEqual(answers: readonly Omit<FileResponse, 'occurrence'>[]): FileResponse[] {
  const counts = new Map<string, number>();
  return answers.map((answer) => {
    const { score, created_at, comment, email } = answer;
    const key = JSON.stringify([score, created_at, comment, email?.toLowerCase() ?? null]);
    const occurrence = (counts.get(key) ?? 0) + 1;
    counts.set(key, occurrence);
    return { ...answer, occurrence };
  });
}

async function leaveErasedOut(tx: Sql, orgId: string, answers: readonly FileResponse[]) {
  const keys = answers.flatMap(({ email }) => email?.toLowerCase() ?? []);
  const erased = await listErased(tx, orgId, keys);
  return answers.filter(({ email }) => !email || !erased.has(email.toLowerCase()));
}

async function importSome(
  tx: Sql,
  survey: OrgSurvey,
  answers: readonly FileResponse[],
): Promise<number> {
  const idOf = await contactIds(tx, survey, answers);
  const rows = answers.map(({ email, name: _, ...answer }) => ({
    ...answer,
    contact_id: email ? (idOf.get(email.toLowerCase()) ?? null) : null,
  }));
  const imported = await insertImported(tx, survey, rows);
  await markAnsweredMany(tx, survey, rows);
  await insertWaitingImported(tx, survey.orgId, imported);
  return imported.length;
}

type ImportedContact = { email: string; name: string | null; properties: Record<string, unknown> };

async function contactIds(tx: Sql, survey: OrgSurvey, answers: readonly FileResponse[]) {
  const byEmail = new Map<string, ImportedContact>();
  for (const { email, name } of answers) {
    if (!email) continue;
    const key = email.toLowerCase();
    byEmail.set(key, { email, name: name ?? byEmail.get(key)?.name ?? null, properties: {} });
  }
  const contacts = await saveContacts(tx, survey, [...byEmail.values()]);
  return new Map(contacts.map(({ key, id }) => [key, id]));
}

function readResponses(text: string, type: SurveyType) {
  const bad: BadLine[] = [];
  const answers = readCsv(text).records.flatMap((record) => {
    const answer = readResponse(record, type);
    if (typeof answer !== 'string') return [answer];
    bad.push({ line: record.line, complaint: answer });
    return [];
  });
  refuseBadLines(bad);
  return answers;
}

/** The response on a line, or what is wrong with it. */
function readResponse(record: CsvRecord, type: SurveyType) {
  const given = field(record, 'score', 'rating');
  const score = Number(given);
  const { lowest, highest } = scaleOf(type);
  if (given === null) return 'the score is missing';
  if (!isScore(type, score)) return `the score ${given} is not from ${lowest} to ${highest}`;

  const time = field(record, ...timeColumns);
  const created_at = readTime(time);
  if (!created_at) return time ? `${JSON.stringify(time)} ${notTime}` : 'the time is missing';

  const written = field(record, ...emailColumns);
  const name = field(record, ...nameColumns);
  const contact = written ? checkContact({ email: written, name }) : { email: null };
  if ('complaint' in contact) return complaintOfLine(contact, written);
  const comment = field(record, 'comment', 'feedback', 'answer');
  if (comment && isLongerThan(comment, longestComment)) {
    return `the comment has more than ${longestComment} characters`;
  }
  const { email } = contact;
  return { score, category: categoryOf(type, score), comment, created_at, email, name };
}

const notTime = 'is not a time such as 2026-01-31 or 2026-01-31 09:30:00 UTC';

/**
 * ISO 8601 or what exports commonly write; without a zone it is UTC. No response is from the future, and none from a day
 * that could be two: 05/01/2026 is in January or in May.
 */
function readTime(text: string | null): Date | null {
  if (!text || /^\d{1,2}[/.-]\d{1,2}[/.-]\d/.test(text)) return null;
  const [day] = /^\d{4}-\d{2}-\d{2}/.exec(text) ?? [];
  if (day && !isInCalendar(day)) return null;
  if (/^\d{9,10}$/.test(text)) return new Date(Number(text) * 1000);
  const zoned = /(?:z|utc|gmt|[+-]\d{2}:?\d{2})$/i.test(text);
  const time = new Date(zoned ? text : `${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}`);
  return Number.isNaN(time.getTime()) || time.getTime() > Date.now() + 86_400_000 ? null : time;
}
