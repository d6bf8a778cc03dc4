import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { described } from '../lib/paging/page.ts';
import { isLanguage, Line, WholeNumber } from '../lib/validation/parse.ts';
import { type Category, categories } from '../survey-types.ts';
import { WithPlaceholders } from '../surveys/texts.ts';

export const questionKinds = ['text', 'scale', 'choice', 'choices'] as const;

/** A follow-up question of a survey, as it is stored and as GET shows it. */
export const Question = v.object({
  id: v.string(),
  kind: v.picklist(questionKinds),
  text: v.string(),
  required: v.boolean(),
  categories: described(v.nullable(v.array(v.picklist(categories))), 'null: everybody'),
  min: v.nullable(v.number()),
  max: v.nullable(v.number()),
  min_label: v.nullable(v.string()),
  max_label: v.nullable(v.string()),
  options: v.nullable(v.array(v.object({ id: v.string(), label: v.string() }))),
  allow_other: v.boolean(),
  texts: v.record(
    v.string(),
    v.object({
      text: v.optional(v.string()),
      min_label: v.optional(v.nullable(v.string())),
      max_label: v.optional(v.nullable(v.string())),
      options: v.optional(v.record(v.string(), v.string())),
    }),
  ),
  archived: v.boolean(),
});
export type Question = v.InferOutput<typeof Question>;

export const maxQuestions = 10;
export const maxAnswerText = 5000;
export const maxOtherText = 200;
/** Includes archived questions. */
const maxStored = 200;
const maxOptions = 20;
const maxLanguages = 30;

const QuestionText = WithPlaceholders(Line(300));
const EndLabel = v.nullish(Line(100));
const OptionLabel = Line(200);
const OptionId = v.pipe(
  v.string('must be text'),
  v.regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be letters, digits, _ and -, at most 40'),
  // An object with option ids as keys would lose this key.
  v.notValue('__proto__', 'must not be __proto__'),
);

const QuestionTextsInput = v.object({
  text: v.optional(QuestionText),
  min_label: EndLabel,
  max_label: EndLabel,
  options: described(v.optional(v.record(v.string(), OptionLabel)), 'labels by option id'),
});

export const QuestionInput = v.object({
  id: described(
    v.nullish(v.string('must be text')),
    'id of an existing question; omit it for a new one',
  ),
  kind: described(
    v.optional(v.picklist(questionKinds, `must be one of ${questionKinds.join(', ')}`)),
    'required for a new question; cannot change once it has answers',
  ),
  text: described(
    v.optional(QuestionText),
    'required for a new question; may contain placeholders',
  ),
  required: described(v.optional(v.boolean('must be true or false')), 'default false'),
  categories: described(
    v.nullish(
      v.pipe(
        v.array(v.picklist(categories, `must be among ${categories.join(', ')}`), 'must be a list'),
        v.minLength(1, 'must name at least one category, or be null'),
        v.transform((named) => categories.filter((category) => named.includes(category))),
      ),
    ),
    'who is asked; null: everybody',
  ),
  min: described(v.nullish(WholeNumber(0, 1)), 'scale only: 0 or 1'),
  max: described(v.nullish(WholeNumber(3, 10)), 'scale only: 3 to 10'),
  min_label: EndLabel,
  max_label: EndLabel,
  options: described(
    v.nullish(v.array(v.object({ id: v.nullish(OptionId), label: OptionLabel }), 'must be a list')),
    `choice and choices only: 2 to ${maxOptions}, with unique labels`,
  ),
  allow_other: described(
    v.nullish(v.boolean('must be true or false')),
    `choice and choices only: adds a free-text option of ${maxOtherText} characters`,
  ),
  texts: described(
    v.nullish(
      v.pipe(
        v.record(v.string(), QuestionTextsInput),
        v.check((texts) => Object.keys(texts).every(isLanguage), 'must be by language tags'),
        v.check(
          (texts) => Object.keys(texts).length <= maxLanguages,
          `must be in at most ${maxLanguages} languages`,
        ),
      ),
    ),
    'translations by language tag',
  ),
  archived: described(
    v.optional(v.boolean('must be true or false')),
    'true: no longer asked, but its answers are kept',
  ),
});
type QuestionInput = v.InferOutput<typeof QuestionInput>;

export const QuestionsInput = described(
  v.pipe(
    v.array(QuestionInput, 'must be a list'),
    v.maxLength(maxStored, `must be at most ${maxStored}, including archived ones`),
  ),
  `follow-up questions in their order, at most ${maxQuestions} that are not archived. The list replaces the previous one: an omitted question is removed, or archived if it has answers`,
);
export type QuestionsInput = v.InferOutput<typeof QuestionsInput>;

/**
 * The questions of a survey after a change. Answered questions that the new list omits are archived at the end of the
 * list. Fields that a question omits keep their value.
 */
export function mergeQuestions(
  before: readonly Question[],
  list: QuestionsInput,
  answered: ReadonlySet<string>,
): Question[] {
  const byId = new Map(before.map((question) => [question.id, question]));
  const merged = list.map((input, place) => {
    const name = `questions.${place}`;
    const old = input.id == null ? undefined : byId.get(input.id);
    if (input.id != null && !old) throw invalid(`${name}.id`, 'is not a question of this survey');
    const question = mergeQuestion(old, input, name);
    if (old && answered.has(old.id)) refuseUnlikeAnswers(old, question, name);
    return question;
  });
  const ids = merged.map(({ id }) => id);
  if (new Set(ids).size < ids.length)
    throw invalid('questions', 'must not contain a question twice');
  const leftOut = before
    .filter(({ id, archived }) => !ids.includes(id) && (archived || answered.has(id)))
    .map((question) => ({ ...question, archived: true }));
  const asked = merged.filter(({ archived }) => !archived);
  if (asked.length > maxQuestions) throw invalid('questions', `must be at most ${maxQuestions}`);
  if (merged.length + leftOut.length > maxStored) {
    throw invalid(
      'questions',
      `a survey keeps at most ${maxStored}, including archived ones: continue on a copy of the survey`,
    );
  }
  return [...asked, ...merged.filter(({ archived }) => archived), ...leftOut];
}

/** The questions for a copy of their survey. Archived questions and ids are left out, so that the copy gets new ids. */
export const copyQuestions = (questions: readonly Question[]): QuestionsInput =>
  askedOf(questions).map(({ id: _id, ...question }) => question);

export const askedOf = (questions: readonly Question[]) =>
  questions.filter(({ archived }) => !archived);

const newQuestionId = () => `q_${randomBytes(6).toString('hex')}`;
const newOptionId = () => `o_${randomBytes(4).toString('hex')}`;

function mergeQuestion(old: Question | undefined, input: QuestionInput, name: string): Question {
  const { kind = old?.kind, text = old?.text } = input;
  if (kind === undefined) throw invalid(`${name}.kind`, 'is required');
  if (text === undefined) throw invalid(`${name}.text`, 'is required');
  const stored = old?.kind === kind ? old : undefined;
  const hasOptions = kind === 'choice' || kind === 'choices';
  const isScale = kind === 'scale';
  const options = mergeOptions(input.options, stored);
  if (hasOptions) checkOptions(options, name);
  const ids = options?.map(({ id }) => id) ?? [];
  for (const [tag, each] of Object.entries(input.texts ?? {})) {
    const unknown = Object.keys(each.options ?? {}).find((id) => !ids.includes(id));
    if (unknown !== undefined) {
      throw invalid(`${name}.texts.${tag}.options`, `${unknown} is not an option of this question`);
    }
  }
  const question: Question = {
    id: old?.id ?? newQuestionId(),
    kind,
    text,
    required: input.required ?? old?.required ?? false,
    categories: input.categories === undefined ? (old?.categories ?? null) : input.categories,
    min: keep(input.min, stored?.min),
    max: keep(input.max, stored?.max),
    min_label: keep(input.min_label, stored?.min_label),
    max_label: keep(input.max_label, stored?.max_label),
    options,
    allow_other: input.allow_other ?? stored?.allow_other ?? false,
    texts: withOptionsOf(input.texts ?? old?.texts ?? {}, ids),
    archived: input.archived ?? false,
  };
  if (isScale) {
    for (const end of ['min', 'max'] as const) {
      if (question[end] === null) throw invalid(`${name}.${end}`, 'is required for a scale');
    }
  } else if (
    [question.min, question.max, question.min_label, question.max_label].some((end) => end !== null)
  ) {
    throw invalid(name, `min, max and their labels are for a scale, not for ${kind}`);
  }
  if (!hasOptions && ((options?.length ?? 0) > 0 || question.allow_other)) {
    throw invalid(name, `options and allow_other are for choice and choices, not for ${kind}`);
  }
  return { ...question, options: hasOptions ? options : null };
}

const keep = <T>(given: T | null | undefined, stored: T | null | undefined) =>
  given === undefined ? (stored ?? null) : given;

/** An option without an id is the stored option with the same label, or else a new option. */
function mergeOptions(given: QuestionInput['options'], stored: Question | undefined) {
  if (given === undefined) return stored?.options ?? null;
  const named = new Set(given?.map(({ id }) => id));
  return (
    given?.map(({ id, label }) => {
      const same = stored?.options?.find((each) => each.label === label && !named.has(each.id));
      return { id: id ?? same?.id ?? newOptionId(), label };
    }) ?? null
  );
}

function checkOptions(options: Question['options'], name: string) {
  const field = `${name}.options`;
  if (!options || options.length < 2 || options.length > maxOptions) {
    throw invalid(field, `must be 2 to ${maxOptions}`);
  }
  const differ = (values: readonly string[]) => new Set(values).size === values.length;
  if (!differ(options.map(({ label }) => label))) throw invalid(field, 'must have unique labels');
  if (!differ(options.map(({ id }) => id))) throw invalid(field, 'must have unique ids');
}

const withOptionsOf = (texts: Question['texts'], ids: readonly string[]) =>
  Object.fromEntries(
    Object.entries(texts).map(([tag, { options, ...rest }]) => {
      const named = Object.entries(options ?? {}).filter(([id]) => ids.includes(id));
      const canonical = Intl.getCanonicalLocales(tag)[0] ?? tag;
      return [canonical, options ? { ...rest, options: Object.fromEntries(named) } : rest];
    }),
  );

function refuseUnlikeAnswers(old: Question, question: Question, name: string) {
  const isGone = ({ id }: { id: string }) => !question.options?.some((option) => option.id === id);
  const changed =
    old.kind !== question.kind
      ? 'its kind cannot change'
      : old.min !== question.min || old.max !== question.max
        ? 'its min and max cannot change'
        : old.options?.some(isGone)
          ? 'its options cannot be removed'
          : undefined;
  if (changed === undefined) return;
  throw new Refusal('conflict', `${name}: this question has answers, so ${changed}`, {
    code: 'question_has_answers',
  });
}

const invalid = (field: string, message: string) => new Refusal('invalid', `${field}: ${message}`);

/** The questions that a respondent of this category is asked, in a language. */
export const questionsFor = (
  questions: readonly Question[],
  category: Category,
  language: string,
): Question[] =>
  askedOf(questions)
    .filter((question) => isAskedOf(question, category))
    .map((question) => translate(question, language));

export const isAskedOf = ({ categories }: Question, category: Category) =>
  categories === null || categories.includes(category);

export function translate(question: Question, language: string): Question {
  const words = question.texts[language];
  if (!words) return question;
  return {
    ...question,
    text: words.text ?? question.text,
    min_label: words.min_label ?? question.min_label,
    max_label: words.max_label ?? question.max_label,
    options:
      question.options?.map(({ id, label }) => ({ id, label: words.options?.[id] ?? label })) ??
      null,
  };
}
