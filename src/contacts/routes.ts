import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, type KeyTools, requireWrite } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { deleteContact } from './delete.ts';
import { listContacts } from './queries.ts';
import { addContact } from './save.ts';
import { ContactInput } from './schemas.ts';

export function contactReads(tools: KeyTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/', (c) =>
    answer(c, 'list', (orgId) => listContacts(tools.db, orgId, parsePage(c.req.queries()))),
  );
}

export const contactRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .post('/', async (c) => {
      const key = requireWrite(c.var.key);
      const contact = await addContact({ db }, key, await parseBody(c, ContactInput));
      return c.json({ data: contact }, 201);
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = c.req.param('id');
      if (!isUuid(id)) throw notFound('contact');
      await deleteContact({ db }, by, id);
      return c.body(null, 204);
    });
