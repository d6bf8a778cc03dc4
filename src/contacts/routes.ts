import { Hono } from 'hono';
import { recordExport } from '../audit/export-act.ts';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import type { ReplicaTools } from '../keys/replica-reads.ts';
import { answerExport } from '../lib/export/answer.ts';
import { parseBody } from '../lib/http/body.ts';
import { parsePage } from '../lib/paging/page.ts';
import { isUuid, parseQuery } from '../lib/validation/parse.ts';
import { deleteContact } from './delete.ts';
import { exportContacts } from './export.ts';
import { listContacts } from './queries.ts';
import { addContact } from './save.ts';
import { ContactExportQuery, ContactInput } from './schemas.ts';

export function contactReads(tools: ReaderTools) {
  const { answer, byQuery } = createReader(tools);
  const list = byQuery((orgId, queries) => listContacts(tools.db, orgId, parsePage(queries)));
  return new Hono<ApiEnv>().get('/', (c) => answer(c, 'list', list(c)));
}

export function contactRoutes(tools: ReplicaTools) {
  const { db } = tools;
  return new Hono<ApiEnv>()
    .get('/export', async (c) => {
      const { format, survey_id: surveyId = null } = parseQuery(
        ContactExportQuery,
        c.req.queries(),
      );
      const { org_id: orgId } = c.var.key;
      await recordExport(db, { orgId, actor: c.var.actor }, 'contacts.exported');
      const parts = exportContacts(tools, orgId, { surveyId, format });
      return answerExport(format, { name: 'contacts', parts });
    })

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
}
