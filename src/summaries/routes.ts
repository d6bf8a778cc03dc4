import { Hono } from 'hono';
import type { ApiEnv } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { findSummary, listSummaries } from './summary.queries.ts';

export function summaryReads(tools: ReaderTools) {
  const { db } = tools;
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', (c) =>
      answer(c, 'list', (orgId) => listSummaries(db, orgId, parsePage(c.req.queries()))),
    )

    .get('/:id', (c) =>
      answer(c, 'summary', (orgId) => {
        const id = c.req.param('id');
        return isUuid(id) ? findSummary(db, orgId, id) : undefined;
      }),
    );
}
