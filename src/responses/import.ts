import { markAnsweredMany } from '../contacts/history.ts';
import { saveContacts } from '../contacts/many.ts';
import { checkContact, complaintOfLine } from '../contacts/rules.ts';
import { notFound } from '../errors.ts';
import { type BadLine, type CsvRecord, field, readCsv, refuseBadLines } from '../lib/cli/csv.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { inTransaction } from '../lib/db/transaction.ts';
import { isLongerThan, longestComment } from '../limits.ts';
import { categoryOf, isScore, type SurveyType, scaleOf } from '../scores.ts';
import { findSurveyType, type ImportedAnswer, insertImported } from './import.queries.ts';

const answersAtOnce = 1000;
const timeColumns = ['createdat', 'respondedat', 'date', 'timestamp', 'submittedat'];

type ImportTools = {
  db: Db;
  onProgress: (done: number, total: number) => void;
};
type Where = { orgId: string; surveyId: string };
type Answer = Omit<ImportedAnswer, 'contact_id'> & { email: string | null; name: string | null };

/**
 * Takes over answers given elsewhere, with their original times, all or none. They count like any
 * other, fire nothing and complete nothing. A line that was taken over before is passed over.
 */
export async function importResponses(tools: ImportTools, where: Where, text: string) {
  const type = await findSurveyType(tools.db, where.orgId, where.surveyId);
  if (!type) throw notFound('survey');
  const answers = numberAlike(readAnswers(text, type));
  return await inTransaction(tools.db, async (tx) => {
    let imported = 0;
    for (let done = 0; done < answers.length; done += answersAtOnce) {
      const some = answers.slice(done, done + answersAtOnce);
      imported += await importSome(tx, where, some);
      tools.onProgress(done + some.length, answers.length);
    }
    return { imported, passed_over: answers.length - imported };
  });
}

/** Counts the lines that say the same, over the whole file: it is taken over in several steps. */
function numberAlike(answers: readonly Omit<Answer, 'occurrence'>[]): Answer[] {
  const met = new Map<string, number>();
  return answers.map((answer) => {
    const { score, created_at, comment, email } = answer;
    const words = JSON.stringify([score, created_at, comment, email?.toLowerCase() ?? null]);
    const occurrence = (met.get(words) ?? 0) + 1;
    met.set(words, occurrence);
    return { ...answer, occurrence };
  });
}

async function importSome(tx: Sql, where: Where, answers: readonly Answer[]): Promise<number> {
  const idOf = await contactIds(tx, where, answers);
  const rows = answers.map(({ email, name: _, ...answer }) => ({
    ...answer,
    contact_id: email ? (idOf.get(email.toLowerCase()) ?? null) : null,
  }));
  const imported = await insertImported(tx, where, rows);
  await markAnsweredMany(tx, where, rows);
  return imported;
}

type Person = { email: string; name: string | null; properties: Record<string, unknown> };

async function contactIds(tx: Sql, where: Where, answers: readonly Answer[]) {
  const people = new Map<string, Person>();
  for (const { email, name } of answers) {
    if (!email) continue;
    const key = email.toLowerCase();
    people.set(key, { email, name: name ?? people.get(key)?.name ?? null, properties: {} });
  }
  const contacts = await saveContacts(tx, where, [...people.values()]);
  return new Map(contacts.map(({ key, id }) => [key, id]));
}

function readAnswers(text: string, type: SurveyType) {
  const bad: BadLine[] = [];
  const answers = readCsv(text).records.flatMap((record) => {
    const answer = readAnswer(record, type);
    if (typeof answer !== 'string') return [answer];
    bad.push({ line: record.line, complaint: answer });
    return [];
  });
  refuseBadLines(bad);
  return answers;
}

/** The answer on a line, or what is wrong with it. */
function readAnswer(record: CsvRecord, type: SurveyType) {
  const given = field(record, 'score', 'rating');
  const score = Number(given);
  const { lowest, highest } = scaleOf(type);
  if (given === null) return 'the score is missing';
  if (!isScore(type, score)) return `the score ${given} is not from ${lowest} to ${highest}`;

  const time = field(record, ...timeColumns);
  const created_at = readTime(time);
  if (!created_at) return time ? `${JSON.stringify(time)} is not a time` : 'the time is missing';

  const written = field(record, 'email', 'personemail', 'emailaddress');
  const name = field(record, 'name', 'personname');
  const contact = written ? checkContact({ email: written, name }) : { email: null };
  if ('complaint' in contact) return complaintOfLine(contact, written);
  const comment = field(record, 'comment', 'feedback', 'answer');
  if (comment && isLongerThan(comment, longestComment)) {
    return `the comment has more than ${longestComment} characters`;
  }
  const { email } = contact;
  return { score, category: categoryOf(type, score), comment, created_at, email, name };
}

/** ISO 8601 or what exports commonly write; without a zone it is UTC. Nobody has answered in the future. */
function readTime(text: string | null): Date | null {
  if (!text) return null;
  if (/^\d{9,10}$/.test(text)) return new Date(Number(text) * 1000);
  const zoned = /(?:z|utc|gmt|[+-]\d{2}:?\d{2})$/i.test(text);
  const time = new Date(zoned ? text : `${text.replace(' ', 'T')}${text.length > 10 ? 'Z' : ''}`);
  return Number.isNaN(time.getTime()) || time.getTime() > Date.now() + 86_400_000 ? null : time;
}
