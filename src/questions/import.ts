import { type Db, inTransaction, type Sql } from '../lib/db/db.ts';
import { isLongerThan } from '../limits.ts';
import { getOrgSurvey, type OrgSurvey, updateSurvey } from '../surveys/queries.ts';
import type { StoredAnswer } from './check-answers.ts';
import {
  maxAnswerText,
  maxOtherText,
  mergeQuestions,
  type Question,
  type QuestionsInput,
} from './definition.ts';
import { findAnswered } from './queries.ts';

/** The cells of a row by the texts of their questions. */
export type ImportedCells = Readonly<Record<string, string>>;

const maxQuestionText = 300;
const maxOptions = 20;
const maxLabel = 200;

type Sample = { values: Set<string>; answers: number };

/** The answers of a file by the texts of their questions. */
export type Samples = Map<string, Sample>;

export function addSamples(samples: Samples, cells: ImportedCells) {
  for (const [text, value] of Object.entries(cells)) {
    const sample = samples.get(text) ?? { values: new Set(), answers: 0 };
    sample.answers += 1;
    if (sample.values.size <= maxOptions) sample.values.add(value);
    samples.set(text, sample);
  }
}

/**
 * Returns the questions of a survey by their texts. Adds missing questions as archived, so that respondents see no
 * change. The lock blocks answers, so import the rows afterwards.
 */
export async function ensureQuestions(db: Db, { orgId, surveyId }: OrgSurvey, samples: Samples) {
  if (samples.size === 0) return new Map<string, Question>();
  return await inTransaction(db, async (tx) => {
    const survey = await getOrgSurvey(tx, orgId, surveyId, 'answers');
    const missing = [...samples].filter(
      ([text]) => !survey.questions.some((each) => each.text === text),
    );
    let { questions } = survey;
    if (missing.length > 0) {
      const added = missing.map(([text, sample]) => questionOf(text, sample));
      const kept = survey.questions.map(({ id, archived }) => ({ id, archived }));
      questions = mergeQuestions(
        survey.questions,
        [...kept, ...added],
        await findAnswered(tx, survey),
      );
      await updateSurvey(tx, survey, { questions });
    }
    return new Map(questions.map((question) => [question.text, question]));
  });
}

/** The number of distinct values decides the kind. Numbers become a scale, a few repeated values become options, and anything else becomes text. */
function questionOf(text: string, { values, answers }: Sample): QuestionsInput[number] {
  const all = [...values];
  if (all.every((value) => /^\d{1,2}$/.test(value) && Number(value) <= 10)) {
    const max = Math.max(3, ...all.map(Number));
    return {
      text,
      kind: 'scale',
      min: all.some((value) => Number(value) === 0) ? 0 : 1,
      max,
      archived: true,
    };
  }
  const areOptions = all.length >= 2 && all.length <= maxOptions && answers >= 3 * all.length;
  if (areOptions && all.every((value) => !isLongerThan(value, maxLabel) && !value.includes('\n'))) {
    const options = all.map((label) => ({ label }));
    return { text, kind: 'choice', options, archived: true };
  }
  return { text, kind: 'text', archived: true };
}

const questionPrefix = /^\s*question:\s*/i;

/** True for `question:TEXT`, and for a header that ends in a question mark. */
export const isQuestion = (header: string) => questionPrefix.test(header) || /[?？؟]$/.test(header);

/** A header as the text of a question: one line without placeholders. */
export const questionText = (header: string) =>
  [...header.replace(questionPrefix, '').replaceAll(/\s+/g, ' ').replaceAll('{{', '{').trim()]
    .slice(0, maxQuestionText)
    .join('');

type ImportedRow = { id: string; answers: ImportedCells };

/** Saves the answers of imported responses. They publish no event. */
export async function insertImportedAnswers(
  tx: Sql,
  orgId: string,
  rows: readonly ImportedRow[],
  questions: ReadonlyMap<string, Question>,
) {
  const answered = rows.flatMap(({ id, answers: cells }) => {
    const answers = Object.entries(cells).flatMap(([text, cell]) => {
      const question = questions.get(text);
      const answer = question && readCell(question, cell);
      return answer ? [[question.id, answer]] : [];
    });
    return answers.length === 0 ? [] : [{ id, answers: Object.fromEntries(answers) }];
  });
  if (answered.length === 0) return;
  await tx`
    insert into response_answers (org_id, response_id, answers, sent, completed_at)
    select ${orgId}, a.id, a.answers, true, now()
    from json_to_recordset(${JSON.stringify(answered)}::text::json) as a (id uuid, answers jsonb)`;
}

/** A cell as an answer. Labels choose options, and anything else becomes the text of "other". */
function readCell({ kind, options, min, max }: Question, cell: string): StoredAnswer | undefined {
  if (kind === 'text') return { text: [...cell].slice(0, maxAnswerText).join('') };
  if (kind === 'scale') {
    const value = Number(cell);
    return Number.isInteger(value) && value >= min! && value <= max! ? { value } : undefined;
  }
  const labels = kind === 'choice' ? [cell] : cell.split(/[;|]/).map((label) => label.trim());
  const idOf = (label: string) =>
    options?.find((option) => option.label.toLowerCase() === label.toLowerCase())?.id;
  const ids = labels.flatMap((label) => idOf(label) ?? []);
  const rest = labels.filter((label) => label !== '' && idOf(label) === undefined).join('; ');
  const other = rest ? { other: [...rest].slice(0, maxOtherText).join('') } : {};
  if (kind === 'choices') return { value: ids, ...other };
  return ids[0] === undefined ? other : { value: ids[0] };
}
