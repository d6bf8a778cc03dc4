import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findSurvey, listSurveys } from './queries.ts';
import { surveyStats } from './stats.ts';

export const surveyRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const page = parsePage(c.req.queries());
      return answerJson(c, db, listSurveys(db, c.var.key.org_id, page));
    })

    .get('/:id', async (c) => {
      const id = c.req.param('id');
      const survey = isUuid(id) && (await findSurvey(db, c.var.key.org_id, id));
      if (!survey) throw notFound('survey');
      return c.json({ data: surveyStats(survey) });
    });
