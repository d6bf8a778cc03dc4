import * as v from 'valibot';
import { ExportFormat } from '../lib/export/answer.ts';
import { Page } from '../lib/paging/page.ts';
import { described, Id, Moment } from '../lib/paging/schemas.ts';
import { BooleanParameter } from '../lib/validation/parse.ts';
import { longestComment } from '../limits.ts';
import { categories, surveyTypes } from '../scores.ts';
import { facetScope, kindScope, oneOf, responseScope } from './scope.schemas.ts';

const longestSearch = 500;

export const states = ['open', 'done'] as const;

export const ResponseQuery = v.object({
  ...Page.entries,
  ...responseScope,
  ...kindScope,
  ...facetScope,
  category: v.optional(oneOf(categories)),
  has_comment: described(
    v.optional(BooleanParameter),
    'true: only those with a comment; false: only those without one',
  ),
  language: described(
    v.optional(v.pipe(v.string(), v.maxLength(35, 'must be the tag of a language'))),
    'limit to answers given on a page of this language, by its BCP 47 tag',
  ),
  state: described(v.optional(oneOf(states)), 'limit to answers that are followed up, or were'),
  owner: described(
    v.optional(v.pipe(v.string(), v.maxLength(254, 'must be the address of a member'))),
    'limit to answers that the member with this address follows up; `none`: to those that no member does',
  ),
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

const { page: _page, limit: _limit, cursor: _cursor, ...filters } = ResponseQuery.entries;

/** The filters of the list; a file has no pages. */
export const ResponseExportQuery = v.object({ ...filters, format: ExportFormat });

const filledByAi = 'null unless AI is enabled for the organization';

export const ResponseNote = v.object({
  id: Id,
  text: v.string(),
  author: described(v.string(), 'name of the member or the API key that wrote it'),
  created_at: Moment,
});

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
  survey_type: v.picklist(surveyTypes),
  language: described(
    v.nullable(v.string()),
    'of the page it was given on, as a BCP 47 tag; null when it came from elsewhere',
  ),
  properties: described(
    v.pipe(
      v.custom<object>(() => true),
      v.metadata({ type: 'object', additionalProperties: true }),
    ),
    'of its contact; empty when the answer is anonymous',
  ),
  tags: described(v.array(v.object({ id: Id, name: v.string(), color: v.string() })), 'by name'),
  state: described(
    v.nullable(v.picklist(states)),
    'of following it up: a detractor is open from the start, other answers have none',
  ),
  owner: described(v.nullable(v.string()), 'address of the member who follows it up'),
  notes: described(v.optional(v.array(ResponseNote)), 'oldest first; only of a single response'),
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
