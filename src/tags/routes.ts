import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { changeTag, createTag, deleteTag } from './manage.ts';
import { tagsJson } from './queries.ts';
import { NewTagInput, TagChangeInput } from './schemas.ts';

export function tagReads(tools: ReaderTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/', (c) =>
    answer(c, 'list', (orgId) => tagsJson(tools.db, orgId)),
  );
}

export const tagRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .post('/', async (c) => {
      const by = requireWrite(c.var.key);
      return c.json({ data: await createTag(db, by, await parseBody(c, NewTagInput)) }, 201);
    })

    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idOf(c);
      const change = await parseBody(c, TagChangeInput);
      return c.json({ data: await changeTag(db, by, { id, ...change }) });
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      await deleteTag(db, by, idOf(c));
      return c.body(null, 204);
    });

/** An id that is not a UUID is not found, like one of another organization. */
function idOf(c: Context<ApiEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('tag');
  return id;
}
