import { Hono } from 'hono';
import type { ApiEnv } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findSummary, listSummaries } from './summary.queries.ts';

export function summaryReads(tools: ReaderTools) {
  const { db } = tools;
  const { answer, byQuery } = createReader(tools);
  const list = byQuery((orgId, queries) => listSummaries(db, orgId, parsePage(queries)));
  return new Hono<ApiEnv>()
    .get('/', (c) => answer(c, 'list', list(c)))

    .get('/:id', (c) =>
      answer(c, 'summary', (orgId) => {
        const id = c.req.param('id');
        return isUuid(id) ? findSummary(db, orgId, id) : undefined;
      }),
    );
}
