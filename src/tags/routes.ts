import { Hono } from 'hono';
import type { ApiEnv } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { listTags } from './queries.ts';

export const tagRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>().get('/', async (c) => {
    const tags = await listTags(db, c.var.key.org_id);
    return c.json({ data: tags, meta: { total: tags.length } });
  });
