import { Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import { one, type Part, type Sql } from '../lib/db/db.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, described } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import type { OrgId } from '../limits.ts';
import {
  countCategories,
  everything,
  hasFacets,
  inRange,
  type NpsScope,
} from '../responses/filter.queries.ts';
import { parseFiltered, rangeOf } from '../responses/filter.ts';
import { facetParameters, ResultsQuery } from '../responses/schemas.ts';
import { type Category, categories, percentage, type Tally } from '../survey-types.ts';
import { isAskedOf, type Question, questionKinds } from './definition.ts';

export const questionReads = (tools: ReplicaTools) => {
  const { read } = createReader(tools);
  return new Hono<ApiEnv>().get('/:id/questions', async (c) => {
    const surveyId = idParam(c, 'survey');
    const {
      category = null,
      facets,
      ignored,
      ...query
    } = parseFiltered(ResultsQuery, c.req.queries());
    const scope = { ...everything, survey_id: surveyId, facets, range: rangeOf(query) };
    const json = await read(c, (orgId) =>
      countAnswers(tools.db, orgId, { surveyId, scope, category }),
    );
    if (json === null) throw notFound('survey');
    const data = resultsOf(JSON.parse(json) as CountedAnswers, category);
    const meta = ignored.length > 0 ? { meta: { ignored } } : {};
    return await answerRead(c, JSON.stringify({ data, ...meta }));
  });
};

const QuestionResult = v.object({
  id: v.string(),
  kind: v.picklist(questionKinds),
  text: v.string(),
  archived: v.boolean(),
  asked: described(
    Count,
    'responses in the categories that are asked this question, and others that answered it earlier',
  ),
  answered: Count,
  options: described(
    v.array(
      v.object({
        id: v.string(),
        label: v.string(),
        count: Count,
        pct: described(v.number(), 'percentage of the respondents who answered, to one decimal'),
      }),
    ),
    'for a scale: its values; for a text: none',
  ),
  other_count: Count,
  mean: described(v.nullable(v.number()), 'for a scale, to two decimals; null without answers'),
  by_category: described(
    v.object({ promoter: Count, passive: Count, detractor: Count }),
    'how many answered',
  ),
});
export type QuestionResult = v.InferOutput<typeof QuestionResult>;

const QuestionResults = v.object({
  data: v.array(QuestionResult),
  meta: v.optional(v.object({ ignored: v.optional(v.array(v.string())) })),
});

export const questionSection: ApiSection = {
  name: 'Questions',
  about:
    'Follow-up questions of a survey are defined with the survey, in `questions`. They are asked after the score.',
  schemas: { QuestionResult },
  operations: {
    'get /api/v1/surveys/{id}/questions': {
      id: 'getQuestionResults',
      summary: 'Count the answers to the follow-up questions of a survey',
      about:
        'In the order of the survey, archived questions last. Responses on hold are not counted.',
      query: ResultsQuery,
      openQuery: facetParameters,
      answer: { about: 'a result for each question', schema: QuestionResults },
    },
  },
};

type AnswerCount = {
  question: string;
  kind: string;
  value: string;
  category: Category;
  count: number;
};
export type CountedAnswers = { questions: Question[]; tally: Tally; counts: AnswerCount[] };

type Counting = { surveyId: string; scope: NpsScope; category: Category | null };

/** The JSON of `CountedAnswers`. Each option reads one range of an index, even with many responses. */
export const countAnswers = (
  sql: Sql,
  orgId: OrgId,
  { surveyId, scope, category }: Counting,
): Part => sql`(
  select json_build_object(
           'questions', s.questions,
           'tally', (${countCategories(sql, orgId, scope)})::json,
           'counts', coalesce((
             select json_agg(json_build_object('question', q ->> 'id', 'kind', kind, 'value', value,
                                               'category', counted.category, 'count', counted.count))
             from jsonb_array_elements(s.questions) as asked (q)
             cross join lateral question_facets(q)
             cross join lateral (
               select f.category, count(*)::int as count
               from response_facets f
               where f.org_id = ${orgId} and f.facet = facet_of(kind, q ->> 'id', value)
                 ${category ? sql`and f.category = ${category}` : sql``}
                 ${inRange(sql, sql`f.created_at`, scope.range)}
                 ${hasFacets(sql, orgId, scope.facets, sql`f.created_at, f.response_id`)}
               group by f.category
             ) counted
           ), '[]'))::text
  from surveys s
  where s.org_id = ${orgId} and s.id = ${surveyId}
)`;

/** The results of a survey's questions since a time, or of all time. */
export async function readResults(sql: Sql, orgId: string, surveyId: string, since: Date | null) {
  const scope = { ...everything, survey_id: surveyId, range: { from: since, to: null } };
  const { json } = one(
    await sql<{ json: string }[]>`
      select ${countAnswers(sql, orgId, { surveyId, scope, category: null })} as json`,
  );
  return resultsOf(JSON.parse(json) as CountedAnswers, null);
}

export function resultsOf(
  { questions, tally, counts }: CountedAnswers,
  only: Category | null,
): QuestionResult[] {
  const byQuestion = Map.groupBy(counts, ({ question }) => question);
  const askedIn = {
    promoter: tally.promoters,
    passive: tally.passives,
    detractor: tally.detractors,
  };
  return questions.map((question) => {
    const own = byQuestion.get(question.id) ?? [];
    const { id, kind, text, archived } = question;
    const total = (rows: readonly AnswerCount[]) => rows.reduce((sum, { count }) => sum + count, 0);
    const countOf = (value: string) =>
      total(own.filter((row) => row.kind === 'answer' && row.value === value));
    // An answer may have several options, so answers are counted separately.
    const whole =
      kind === 'text' || kind === 'choices' ? own.filter((row) => row.kind === 'answered') : own;
    const answered = total(whole);
    const values = own.filter((row) => row.kind === 'answer');
    const sum = values.reduce((all, { value, count }) => all + Number(value) * count, 0);
    const byCategory = categories.map(
      (category) => [category, total(whole.filter((row) => row.category === category))] as const,
    );
    return {
      id,
      kind,
      text,
      archived,
      asked: byCategory.reduce((all, [category, answers]) => {
        if (only !== null && only !== category) return all;
        // Other categories may have answered before the question was limited.
        return all + (isAskedOf(question, category) ? askedIn[category] : answers);
      }, 0),
      answered,
      options: valuesOf(question).map((option) => {
        const count = countOf(option.id);
        return { ...option, count, pct: percentage(count, answered) };
      }),
      other_count: total(own.filter((row) => row.kind === 'other')),
      mean: kind === 'scale' && answered > 0 ? Math.round((sum / answered) * 100) / 100 : null,
      by_category: Object.fromEntries(byCategory) as QuestionResult['by_category'],
    };
  });
}

/** The options of a question, or the values of its scale. */
export function valuesOf({ kind, options, min, max }: Question) {
  if (kind !== 'scale') return options ?? [];
  const values = Array.from({ length: max! - min! + 1 }, (_, at) => String(min! + at));
  return values.map((value) => ({ id: value, label: value }));
}
