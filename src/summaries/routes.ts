import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parsePage } from '../lib/paging/page.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findSummary, listSummaries } from './summary.queries.ts';

export const summaryRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const page = parsePage(c.req.queries());
      return answerJson(c, db, listSummaries(db, c.var.key.org_id, page));
    })

    .get('/:id', async (c) => {
      const id = c.req.param('id');
      const summary = isUuid(id) && (await findSummary(db, c.var.key.org_id, id));
      if (!summary) throw notFound('summary');
      return c.json({ data: summary });
    });
