import { Hono } from 'hono';
import * as v from 'valibot';
import type { ApiEnv } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, described, Id, List, Moment, One, Page, parsePage } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
import { surveyTypes } from '../survey-types.ts';
import { NetPromoterScore, ScoreInterval } from '../surveys/schemas.ts';
import { findSummary, listSummaries } from './queries.ts';

export function summaryReads(tools: ReplicaTools) {
  const { db } = tools;
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', (c) =>
      answer(c, 'list', (orgId) => listSummaries(db, orgId, parsePage(c.req.queries()))),
    )

    .get('/:id', (c) =>
      answer(c, 'summary', (orgId) => findSummary(db, orgId, idParam(c, 'summary'))),
    );
}

const Interval = v.nullable(v.object({ low: v.number(), high: v.number() }));

const Block = v.object({
  type: v.picklist(surveyTypes),
  audience: v.picklist(['customer', 'employee']),
  score: described(
    v.number(),
    'NPS, percentage of satisfied responses or thumbs up, or mean of stars or ease',
  ),
  interval: described(
    Interval,
    '95 % interval of `score`; null for a mean of one response or of equal scores',
  ),
  n: described(Count, 'number of responses'),
  change: described(
    v.nullable(
      v.object({
        from: described(v.number(), 'score of the previous period'),
        by: v.number(),
        interval: described(Interval, '95 % interval of the difference'),
        is_clear: described(
          v.boolean(),
          'true if the interval excludes 0; otherwise the change may be due to chance',
        ),
      }),
    ),
    'null without responses in the previous period',
  ),
});

export type ShownSummary = v.InferOutput<typeof Summary>;

const Summary = v.object({
  id: Id,
  report_type: v.string(),
  period_start: Moment,
  period_end: v.pipe(Moment, v.description('First moment after the period.')),
  nps: described(
    NetPromoterScore,
    'NPS of the `nps` responses of customers; null if there are none',
  ),
  interval: ScoreInterval,
  previous_nps: described(
    NetPromoterScore,
    'NPS of the period before, which has the same number of calendar months or the same duration',
  ),
  blocks: described(v.array(Block), 'one score per scale and audience'),
  responses: Count,
  top_themes: v.array(v.string()),
  text: v.string(),
  created_at: Moment,
});

export const summarySection: ApiSection = {
  name: 'Summaries',
  about: 'Executive summaries of the responses in a period.',
  schemas: { Summary },
  operations: {
    'get /api/v1/summaries': {
      id: 'listSummaries',
      summary: 'List summaries, newest first',
      about: 'Includes monthly summaries and summaries on demand.',
      query: Page,
      answer: { about: 'a page of summaries', schema: List(Summary) },
    },
    'get /api/v1/summaries/{id}': {
      id: 'getSummary',
      summary: 'Get a summary',
      about: 'Returns the text and its figures.',
      answer: { about: 'the summary', schema: One(Summary) },
    },
  },
};
