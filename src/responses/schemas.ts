import * as v from 'valibot';
import { Page } from '../lib/paging/page.ts';
import { described, Id, Moment } from '../lib/paging/schemas.ts';
import { BooleanParameter } from '../lib/validation/parse.ts';
import { longestComment } from '../limits.ts';
import { categories } from '../scores.ts';
import { oneOf, responseScope } from './scope.schemas.ts';

const longestSearch = 500;

export const ResponseQuery = v.object({
  ...Page.entries,
  ...responseScope,
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

/** What is posted to a link. The flow that takes it checks it, by the scale of the survey. */
export const AnswerBody = v.object({
  score: described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
    "on the survey's own scale",
  ),
  comment: v.nullish(v.pipe(v.string(), v.maxLength(longestComment))),
});

export const GivenAnswer = v.object({ id: Id, score: v.pipe(v.number(), v.integer()) });
