import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { ApiEnv, KeyTools } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { listSurveys, type SurveyRow, surveyJson } from './queries.ts';
import { surveyStats } from './stats.ts';

export function surveyReads(tools: KeyTools) {
  const { db } = tools;
  const { read, answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', (c) =>
      answer(c, 'list', (orgId) => listSurveys(db, orgId, parsePage(c.req.queries()))),
    )

    .get('/:id', async (c) => {
      const id = c.req.param('id');
      const survey = await read(c, (orgId) => (isUuid(id) ? surveyJson(db, orgId, id) : undefined));
      if (survey === null) throw notFound('survey');
      return c.json({ data: surveyStats(parseSurvey(survey)) });
    });
}

function parseSurvey(json: string): SurveyRow {
  const row = JSON.parse(json) as SurveyRow;
  return {
    ...row,
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
  };
}
