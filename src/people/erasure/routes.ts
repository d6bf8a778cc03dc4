import { Hono } from 'hono';
import { notFound } from '../../errors.ts';
import { type ApiEnv, requireWrite } from '../../keys/authenticate.ts';
import type { Db } from '../../lib/db/db.ts';
import { parseList } from '../../lib/paging/page.ts';
import { answerJson } from '../../lib/paging/paged-json.ts';
import { isUuid } from '../../lib/validation/parse.ts';
import { allowErasedAddress } from './allow.ts';
import type { ErasureFile } from './file.ts';
import { listErasures } from './queries.ts';
import { ErasureQuery } from './schemas.ts';

type ErasureRouteTools = { db: Db; erasureFile: ErasureFile };

/** The receipts of erasures. A person is erased where people are: below `/api/v1/people`. */
export const erasureRoutes = (tools: ErasureRouteTools) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const query = parseList(ErasureQuery, c.req.queries());
      return await answerJson(c, tools.db, listErasures(tools.db, c.var.key.org_id, query));
    })

    .post('/:id/allow', async (c) => {
      const by = requireWrite(c.var.key);
      const id = c.req.param('id');
      if (!isUuid(id)) throw notFound('erasure');
      return c.json({ data: await allowErasedAddress(tools, by, id) });
    });
