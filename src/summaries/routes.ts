import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import { answerList } from '../platform/answer.ts';
import type { Db } from '../platform/db.ts';
import { parsePage } from '../platform/page.ts';
import { isUuid } from '../platform/parse.ts';
import { findSummary, listSummaries } from './summary.queries.ts';

export const summaryRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const page = parsePage(c.req.query());
      return answerList(c, page, await listSummaries(db, c.var.key.org_id, page));
    })

    .get('/:id', async (c) => {
      const id = c.req.param('id');
      const summary = isUuid(id) && (await findSummary(db, c.var.key.org_id, id));
      if (!summary) throw notFound('summary');
      return c.json({ data: summary });
    });
