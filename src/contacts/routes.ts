import { Hono } from 'hono';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { parsePage } from '../lib/paging/page.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { listContacts } from './queries.ts';
import { addContact } from './save.ts';
import { ContactInput } from './schemas.ts';

export const contactRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const page = parsePage(c.req.queries());
      return answerJson(c, db, listContacts(db, c.var.key.org_id, page));
    })

    .post('/', async (c) => {
      const key = requireWrite(c.var.key);
      const contact = await addContact({ db }, key, await parseBody(c, ContactInput));
      return c.json({ data: contact }, 201);
    });
