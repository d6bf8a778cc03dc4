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

const path = '/api/v1/summaries';

const Interval = v.nullable(v.object({ low: v.number(), high: v.number() }));

const Block = v.object({
  type: v.picklist(surveyTypes),
  audience: v.picklist(['customer', 'employee']),
  score: described(
    v.number(),
    'the NPS, the percentage of satisfied answers or of thumbs up, or the mean of stars or effort',
  ),
  interval: described(
    Interval,
    '95 % interval of `score`; null for a mean of one response, or of equal scores',
  ),
  n: described(Count, 'responses that it is of'),
  change: described(
    v.nullable(
      v.object({
        from: described(v.number(), 'the score of the period before'),
        by: v.number(),
        interval: described(Interval, '95 % interval of the difference'),
        is_clear: described(v.boolean(), 'true if that interval excludes 0: else it may be chance'),
      }),
    ),
    'null without responses in the period before',
  ),
});

export type ShownSummary = v.InferOutput<typeof Summary>;

const Summary = v.object({
  id: Id,
  report_type: v.string(),
  period_start: Moment,
  period_end: v.pipe(Moment, v.description('The first moment after the period.')),
  nps: described(NetPromoterScore, 'of the `nps` responses of customers; null if there are none'),
  interval: ScoreInterval,
  previous_nps: described(
    NetPromoterScore,
    'the same of the calendar months before, or of as long a time just before',
  ),
  blocks: described(
    v.array(Block),
    'a score for each scale that was answered, customers and employees apart',
  ),
  responses: Count,
  top_themes: v.array(v.string()),
  text: v.string(),
  created_at: Moment,
});

export const summarySection: ApiSection = {
  name: 'Summaries',
  about: 'Executive summaries of what was answered in a period.',
  schemas: { Summary },
  operations: [
    {
      id: 'listSummaries',
      method: 'get',
      path,
      summary: 'List summaries, newest first',
      about: 'One for each calendar month, and those that were asked for.',
      permission: 'read',
      query: Page,
      answer: { status: 200, about: 'a page of them', schema: List(Summary) },
    },
    {
      id: 'getSummary',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'Get a summary',
      about: 'The text, and the figures that it is about.',
      permission: 'read',
      answer: { status: 200, about: 'the summary', schema: One(Summary) },
    },
  ],
};
