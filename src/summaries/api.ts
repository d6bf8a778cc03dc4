import { Hono } from 'hono';
import * as v from 'valibot';
import type { ApiEnv } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, Id, List, Moment, One, Page, parsePage } from '../lib/paging/page.ts';
import { idParam } from '../lib/validation/parse.ts';
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

const Nps = v.nullable(v.pipe(v.number(), v.integer()));

export type ShownSummary = v.InferOutput<typeof Summary>;

const Summary = v.object({
  id: Id,
  report_type: v.string(),
  period_start: Moment,
  period_end: v.pipe(Moment, v.description('The first moment after the period.')),
  nps: Nps,
  previous_nps: v.pipe(
    Nps,
    v.description('Of the calendar months before, or of as long a time just before.'),
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
      about:
        'One for each calendar month with responses, and those that were asked for on the command line.',
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
