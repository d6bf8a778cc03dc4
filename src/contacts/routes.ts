import { Hono } from 'hono';
import { type ApiEnv, type KeyTools, requireWrite } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { parsePage } from '../lib/paging/page.ts';
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
  new Hono<ApiEnv>().post('/', async (c) => {
    const key = requireWrite(c.var.key);
    const contact = await addContact({ db }, key, await parseBody(c, ContactInput));
    return c.json({ data: contact }, 201);
  });
