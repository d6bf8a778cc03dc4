import * as v from 'valibot';
import { ExportFormat } from '../lib/export/export.ts';
import type { Parameter } from '../lib/openapi/openapi.ts';
import { Count, described, Id, Moment, Page } from '../lib/paging/page.ts';
import { BooleanParameter, isTimeZone, Text, Uuid } from '../lib/validation/parse.ts';
import { maxCommentLength, maxNoteLength, maxTagsOfResponse } from '../limits.ts';
import { questionKinds } from '../questions/definition.ts';
import { Reply } from '../replies/schemas.ts';
import { maxTheme } from '../summaries/rules.ts';
import { categories, surveyTypes } from '../survey-types.ts';
import { NetPromoterScore, ScoreInterval } from '../surveys/schemas.ts';
import { readInstants } from './period.ts';
import { trendIntervals } from './trend.ts';

const states = ['open', 'done'] as const;

export const FollowUpInput = v.object({
  state: described(
    v.optional(v.nullable(v.picklist(states, 'must be open, done or null'))),
    'null: no follow-up',
  ),
  owner: described(
    v.optional(v.nullable(v.pipe(v.string('must be text'), v.maxLength(254, 'is too long')))),
    'email of a member; null: unassigned',
  ),
});

export const TagsInput = v.object({
  tags: described(
    v.pipe(
      v.array(Uuid, 'must be a list of ids'),
      v.maxLength(maxTagsOfResponse, `must be at most ${maxTagsOfResponse}`),
    ),
    'ids of all tags of the response',
  ),
});

export const NoteInput = v.object({ text: Text(maxNoteLength) });

const emptyToNull = (text: string) => text || null;

const StateField = v.optional(
  v.pipe(
    v.string(),
    v.transform(emptyToNull),
    v.nullable(v.picklist(states, 'must be open or done')),
  ),
);
const OwnerField = v.optional(
  v.pipe(v.string(), v.maxLength(254, 'is too long'), v.transform(emptyToNull)),
);

/**
 * Follow-up changes from a form. An empty field clears the value. A field that still has the value that the page showed
 * is ignored, because another member may have changed the response since.
 */
export const FollowUpFields = v.pipe(
  v.object({
    state: StateField,
    owner: OwnerField,
    shown_state: StateField,
    shown_owner: OwnerField,
  }),
  v.transform(({ state, owner, shown_state, shown_owner }) => ({
    ...(state === shown_state ? {} : { state }),
    ...(owner === undefined || owner === shown_owner ? {} : { owner, fromOwner: shown_owner }),
  })),
);

const maxSearchLength = 500;

export const oneOf = <const T extends readonly string[]>(words: T) =>
  v.picklist(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);

const dateMessage = 'must be an ISO 8601 date or time, such as 2024-05-01 or 2024-05-01T09:30:00Z';

const timePattern = String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$`;

const dateBound = v.pipe(
  v.string(),
  v.metadata({ pattern: timePattern, examples: ['2026-04-01'] }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const instants = readInstants(dataset.value);
    if (instants) return instants;
    addIssue({ message: dateMessage });
    return NEVER;
  }),
);

const TimeZone = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z]/, 'must be the name of a time zone, such as Europe/Berlin'),
  v.check(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin'),
);

const Round = v.pipe(
  v.string(),
  v.regex(/^[1-9]\d{0,3}$/, 'must be the number of a round, from 1'),
  v.transform(Number),
);

/** `parseFiltered` adds `property.NAME=value`, whose names no schema can list. */
const scope = {
  survey_id: described(v.optional(Uuid), 'only this survey'),
  type: described(v.optional(oneOf(surveyTypes)), 'only surveys of this type'),
  audience: described(
    v.optional(oneOf(['employee', 'customer'])),
    'only employee surveys, or only all other surveys',
  ),
  tag: described(
    v.optional(v.array(Uuid)),
    'only responses with this tag; repeat it to require several tags',
  ),
  sentiment: described(
    v.optional(oneOf(['positive', 'neutral', 'negative', 'mixed'])),
    'only responses with a comment of this sentiment',
  ),
  theme: described(
    v.optional(v.pipe(v.string(), v.maxLength(maxTheme, `must be at most ${maxTheme} characters`))),
    'only responses with a comment about this theme, one of `ai_themes`; case does not matter',
  ),
  round: described(v.optional(Round), 'only responses of contacts in this round'),
};

const dates = {
  date_from: described(
    v.optional(dateBound),
    'on or after this ISO 8601 time; a date without a time means its start in `tz`',
  ),
  date_to: described(
    v.optional(dateBound),
    'on or before this ISO 8601 time; a date without a time means its end in `tz`',
  ),
  tz: described(v.optional(TimeZone, 'UTC'), 'time zone of dates without a time, as an IANA name'),
};

export const ResponseQuery = v.object({
  ...Page.entries,
  ...scope,
  ...dates,
  category: v.optional(oneOf(categories)),
  has_comment: described(
    v.optional(BooleanParameter),
    'true: only responses with a comment; false: only responses without one',
  ),
  language: described(
    v.optional(v.pipe(v.string(), v.maxLength(35, 'must be a language tag'))),
    'only responses given in this language, as a BCP 47 tag',
  ),
  state: described(v.optional(oneOf(states)), 'only responses in this state of follow-up'),
  owner: described(
    v.optional(v.pipe(v.string(), v.maxLength(254, 'must be the email of a member'))),
    'only responses assigned to the member with this email; `none`: unassigned responses',
  ),
  search: described(
    v.optional(
      v.pipe(
        v.string(),
        v.maxLength(maxSearchLength, `must be at most ${maxSearchLength} characters`),
        v.check((text) => !text.includes('\u0000'), 'must not contain NUL'),
      ),
    ),
    'any part of the comment, the contact email or the contact name, case-insensitive',
  ),
  held: described(
    v.optional(BooleanParameter, 'false'),
    'true: only responses on hold, which do not count',
  ),
});

export type ResponseQuery = v.InferOutput<typeof ResponseQuery>;

const { page: _page, limit: _limit, cursor: _cursor, ...filters } = ResponseQuery.entries;

export const ResponseExportQuery = v.object({ ...filters, format: ExportFormat });

const filledByAi = 'null unless AI is enabled for the organization';

export const ResponseNote = v.object({
  id: Id,
  text: v.string(),
  author: described(v.string(), 'name of the member or API key'),
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
    'on hold: the response looks automated and does not count until released',
  ),
  created_at: Moment,
  contact_email: described(v.nullable(v.string()), 'null if anonymous'),
  contact_name: v.nullable(v.string()),
  round: described(
    v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))),
    'the round of its contact; null without a contact',
  ),
  survey_name: v.string(),
  survey_type: v.picklist(surveyTypes),
  language: described(
    v.nullable(v.string()),
    'language of the page, as a BCP 47 tag; null if imported',
  ),
  properties: described(
    v.pipe(
      v.custom<object>(() => true),
      v.metadata({ type: 'object', additionalProperties: true }),
    ),
    'properties of the contact at the time of the response, of the imported row, or from the embedding website',
  ),
  tags: described(v.array(v.object({ id: Id, name: v.string(), color: v.string() })), 'by name'),
  answers: described(
    v.array(
      v.object({
        question_id: v.string(),
        question: v.string(),
        kind: v.picklist(questionKinds),
        value: described(
          v.nullable(v.union([v.string(), v.number(), v.array(v.string())])),
          'a text, a value of the scale, an option id or several; null if only `other` was answered',
        ),
        label: described(
          v.nullable(v.union([v.string(), v.array(v.string())])),
          "of the options, in the survey's language",
        ),
        other: v.nullable(v.string()),
      }),
    ),
    'answers to the follow-up questions, in the order of the survey',
  ),
  state: described(
    v.nullable(v.picklist(states)),
    'state of the follow-up; new detractors are `open`, other responses null',
  ),
  owner: described(v.nullable(v.string()), 'email of the assigned member'),
  notes: described(v.optional(v.array(ResponseNote)), 'oldest first; only in a single response'),
  replies: described(v.optional(v.array(Reply)), 'oldest first; only in a single response'),
});

/** Body of a POST to a link. `answerSurvey` checks the score against the survey's scale. */
export const AnswerBody = v.object({
  score: described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10)),
    "on the survey's own scale",
  ),
  comment: v.nullish(v.pipe(v.string(), v.maxLength(maxCommentLength))),
});

export const GivenAnswer = v.object({ id: Id, score: v.pipe(v.number(), v.integer()) });

export const ResultsQuery = v.object({
  ...dates,
  tag: scope.tag,
  category: v.optional(oneOf(categories)),
});

export const NpsQuery = v.object({ ...scope, ...dates });

export type NpsQuery = v.InferOutput<typeof NpsQuery>;

export const TrendQuery = v.object({
  interval: described(v.optional(oneOf(trendIntervals), 'day'), 'length of the period in each row'),
  tz: described(
    v.optional(TimeZone, 'UTC'),
    'time zone of days, weeks and months, as an IANA name',
  ),
  ...scope,
  date_from: described(
    v.optional(dateBound),
    'on or after this ISO 8601 time; a date without a time is a day in `tz`. Defaults to 90 days before `date_to`',
  ),
  date_to: described(
    v.optional(dateBound),
    'on or before this ISO 8601 time; a date without a time is a day in `tz`. Defaults to today',
  ),
});

export type TrendQuery = v.InferOutput<typeof TrendQuery>;

const Percentage = v.pipe(v.number(), v.minValue(0), v.maxValue(100));

const rollup = {
  nps: NetPromoterScore,
  margin_of_error: described(
    v.nullable(v.pipe(v.number(), v.minValue(0))),
    'half of the width of `interval`, with one decimal; null without responses',
  ),
  interval: ScoreInterval,
  total: Count,
  promoters: Count,
  passives: Count,
  detractors: Count,
  promoter_pct: described(Percentage, 'with one decimal; 0 without responses'),
  passive_pct: Percentage,
  detractor_pct: Percentage,
  held: described(Count, 'responses on hold, not included in the other counts'),
};

export const Nps = v.object(rollup);

export const NpsTrendRow = v.object({
  start: described(
    v.pipe(v.string(), v.isoDate(), v.metadata({ format: 'date' })),
    'the first day of the row in `tz`: the day itself, a Monday, or the first of a month',
  ),
  ...rollup,
});

const ignored = described(
  v.optional(v.array(v.string())),
  'unknown parameters of the request, if any',
);

export const NpsAnswer = v.object({
  data: Nps,
  meta: v.optional(v.object({ ignored })),
});

export const NpsTrend = v.object({
  data: v.array(NpsTrendRow),
  meta: v.object({ interval: v.picklist(trendIntervals), tz: v.string(), total: Count, ignored }),
});

/** OpenAPI declares parameters with free names as the fields of one object. */
const openParameter = (
  name: string,
  words: { description: string; pattern: string; example: Record<string, string> },
): Parameter => ({
  name,
  in: 'query',
  required: false,
  description: words.description,
  style: 'form',
  explode: true,
  schema: {
    type: 'object',
    propertyNames: { type: 'string', pattern: words.pattern },
    additionalProperties: { type: 'string' },
  },
  example: words.example,
});

export const facetParameters = [
  openParameter('property', {
    description:
      '`property.NAME=value`: only responses whose property NAME equals the value, as text or as JSON. ' +
      'Repeat it for several properties; all must match.',
    pattern: '^property\\..',
    example: { 'property.plan': 'pro' },
  }),
  openParameter('answer', {
    description:
      '`answer.QUESTION_ID=VALUE` limits to responses with that option id or scale value. Each question is a separate ' +
      'parameter. Repeat it for several values; all must match.',
    pattern: '^answer\\.q_',
    example: { 'answer.q_3f9a0c1d2e4b': 'o_5d2c81aa' },
  }),
];
