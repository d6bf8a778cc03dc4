import { Hono } from 'hono';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { answerList } from '../platform/answer.ts';
import type { Db } from '../platform/db.ts';
import { parseBody } from '../platform/http.ts';
import { parsePage } from '../platform/page.ts';
import { listContacts } from './queries.ts';
import { addContact } from './save.ts';
import { ContactInput } from './schemas.ts';

export const contactRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const page = parsePage(c.req.query());
      return answerList(c, page, await listContacts(db, c.var.key.org_id, page));
    })

    .post('/', async (c) => {
      const key = requireWrite(c.var.key);
      const contact = await addContact({ db }, key, await parseBody(c, ContactInput));
      return c.json({ data: contact }, 201);
    });
