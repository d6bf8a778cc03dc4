import * as v from 'valibot';
import { Page } from '../lib/paging/page.ts';
import { Count, described, Id, Moment } from '../lib/paging/schemas.ts';
import { BooleanParameter, Uuid } from '../lib/validation/parse.ts';
import { longestComment } from '../limits.ts';
import { categories, surveyTypes } from '../scores.ts';
import { NetPromoterScore } from '../surveys/schemas.ts';
import { readInstants } from './range.ts';

const longestSearch = 500;

const oneOf = <const T extends readonly string[]>(words: T) =>
  v.picklist(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);

const dateForm = 'must be an ISO 8601 date or time, such as 2024-05-01 or 2024-05-01T09:30:00Z';

/** A date, or a time with or without its zone. */
const timePattern = String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$`;

/** An instant out of the text of a filter: `first` where a range begins with it, `end` where it ends. */
const instant = (bound: 'first' | 'end') =>
  v.pipe(
    v.string(),
    v.metadata({ pattern: timePattern, examples: ['2026-04-01'] }),
    v.rawTransform(({ dataset, addIssue, NEVER }): Date => {
      const instants = readInstants(dataset.value);
      if (instants) return instants[bound];
      addIssue({ message: dateForm });
      return NEVER;
    }),
  );

const scope = {
  survey_id: described(v.optional(Uuid), 'limit to one survey'),
  date_from: described(
    v.optional(instant('first')),
    'on or after this ISO 8601 time; a bare date is its start, UTC',
  ),
  date_to: described(
    v.optional(instant('end')),
    'on or before this ISO 8601 time; a bare date is its end, UTC',
  ),
};

export const ResponseQuery = v.object({
  ...Page.entries,
  ...scope,
  category: v.optional(oneOf(categories)),
  search: described(
    v.optional(
      v.pipe(
        v.string(),
        v.maxLength(longestSearch, `must be at most ${longestSearch} characters`),
        v.check((text) => !text.includes('\u0000'), 'must not contain NUL'),
      ),
    ),
    'any part of the comment, the contact email or the contact name, in any case',
  ),
  held: described(
    v.optional(BooleanParameter, 'false'),
    'list the answers that are held, and count nowhere, instead of the others',
  ),
});

export type ResponseQuery = v.InferOutput<typeof ResponseQuery>;

export const NpsQuery = v.object({
  ...scope,
  type: described(v.optional(oneOf(surveyTypes)), 'limit to surveys of this type'),
  audience: described(
    v.optional(oneOf(['employee', 'customer'])),
    'limit to surveys of employees, or to all others',
  ),
});

export type NpsQuery = v.InferOutput<typeof NpsQuery>;

const filledByAi = 'null unless AI is enabled for the organization';

export const Response = v.object({
  id: Id,
  survey_id: Id,
  score: described(v.pipe(v.number(), v.integer()), "on the survey's own scale"),
  category: v.picklist(categories),
  comment: v.nullable(v.string()),
  ai_sentiment: described(v.nullable(v.string()), filledByAi),
  ai_themes: described(v.array(v.string()), 'empty unless AI is enabled for the organization'),
  ai_churn_risk: described(v.nullable(v.string()), filledByAi),
  ai_summary: described(v.nullable(v.string()), filledByAi),
  held: described(
    v.boolean(),
    'a machine seems to have given it: it counts nowhere until released',
  ),
  created_at: Moment,
  contact_email: described(v.nullable(v.string()), 'null when the answer is anonymous'),
  contact_name: v.nullable(v.string()),
  survey_name: v.string(),
});

const Percentage = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

export const Nps = v.object({
  nps: NetPromoterScore,
  total: Count,
  promoters: Count,
  passives: Count,
  detractors: Count,
  promoter_pct: described(Percentage, 'to one decimal; 0 when there are no answers'),
  passive_pct: Percentage,
  detractor_pct: Percentage,
});

/** What is posted to a link. The flow that takes it checks it, by the scale of the survey. */
export const AnswerBody = v.object({
  score: described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
    "on the survey's own scale",
  ),
  comment: v.nullish(v.pipe(v.string(), v.maxLength(longestComment))),
});

export const GivenAnswer = v.object({ id: Id, score: v.pipe(v.number(), v.integer()) });
