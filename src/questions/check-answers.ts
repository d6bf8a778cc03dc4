import { Refusal } from '../errors.ts';
import { isLongerThan } from '../limits.ts';
import { storableText } from '../responses/rules.ts';
import { maxAnswerText, maxOtherText, type Question } from './definition.ts';

/** An answer as it was posted: the fields of a form, or a member of a JSON list. */
export type PostedAnswer = { questionId: string; value: unknown; other?: unknown };

/** Answers as they are stored, by question id. `value` is missing in a text answer, and if only "other" was chosen. */
export type StoredAnswer = { value?: string | number | string[]; other?: string; text?: string };
export type StoredAnswers = Readonly<Record<string, StoredAnswer>>;

export type AnswerChanges = { added: StoredAnswers; removed: string[] };

/** Checks posted answers. An empty answer removes the stored one. One invalid answer refuses the whole request. */
export function checkAnswers(
  questions: readonly Question[],
  posted: readonly PostedAnswer[],
): AnswerChanges {
  const added: Record<string, StoredAnswer> = {};
  const removed = new Set<string>();
  for (const answer of posted) {
    const question = questions.find(({ id }) => id === answer.questionId);
    if (!question) {
      throw new Refusal(
        'invalid',
        `${answer.questionId} is not a question that this respondent is asked`,
        { code: 'question_unknown' },
      );
    }
    const checked = checkAnswer(question, answer);
    // The last answer to a question counts.
    delete added[question.id];
    removed.delete(question.id);
    if (checked) added[question.id] = checked;
    else removed.add(question.id);
  }
  return { added, removed: [...removed] };
}

export const missingAnswers = (questions: readonly Question[], answers: StoredAnswers) =>
  questions.filter(({ required, id }) => required && !answers[id]).map(({ id }) => id);

function checkAnswer(question: Question, answer: PostedAnswer): StoredAnswer | null {
  const { kind } = question;
  const other = checkOther(question, answer.other);
  if (kind === 'choices') {
    const value = checkOptions(question, answer.value ?? []);
    if (value.length === 0 && other === null) return null;
    return other === null ? { value } : { value, other };
  }
  const single = Array.isArray(answer.value) ? onlyOne(question, answer.value) : answer.value;
  if (kind === 'text') {
    const text = checkText(question, single, maxAnswerText);
    return text === null ? null : { text };
  }
  if (single === null || single === undefined || single === '') {
    return other === null ? null : { other };
  }
  if (kind === 'scale') return { value: checkScale(question, single) };
  const [value] = checkOptions(question, [single]);
  return { value: value! };
}

/** A form has a list of values for each field. */
function onlyOne(question: Question, values: readonly unknown[]): unknown {
  if (values.length > 1) throw invalid(question, 'takes one answer');
  return values[0];
}

function checkOther(question: Question, other: unknown): string | null {
  const text = checkText(question, other, maxOtherText);
  if (text !== null && !question.allow_other)
    throw invalid(question, 'does not allow an `other` answer');
  return text;
}

function checkText(question: Question, posted: unknown, maxLength: number): string | null {
  if (posted === null || posted === undefined) return null;
  if (typeof posted !== 'string') throw invalid(question, 'must be text');
  const text = storableText(posted);
  if (isLongerThan(text, maxLength)) {
    throw invalid(question, `must have at most ${maxLength} characters`);
  }
  return text || null;
}

/** A form posts digits. */
function checkScale(question: Question, posted: unknown): number {
  const { min, max } = question;
  const value = typeof posted === 'string' && /^\d{1,2}$/.test(posted) ? Number(posted) : posted;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min! && value <= max!) {
    return value;
  }
  throw invalid(question, `must be a whole number from ${min} to ${max}`);
}

/** The chosen options, in the order of the question. */
function checkOptions(question: Question, posted: unknown): string[] {
  if (!Array.isArray(posted)) throw invalid(question, 'must be a list of option ids');
  const ids = (question.options ?? []).map(({ id }) => id);
  if (!posted.every((id) => ids.includes(id))) {
    throw invalid(question, 'must be one of the options of the question');
  }
  return ids.filter((id) => posted.includes(id));
}

const invalid = ({ id }: Question, message: string) =>
  new Refusal('invalid', `${id}: ${message}`, { code: 'answer_invalid' });
