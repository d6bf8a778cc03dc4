import { Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../audit/export.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import { csvDescription, ExportFormat, exportResponse, exportTypes } from '../lib/export/export.ts';
import { parseBody } from '../lib/http/body.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, described, Id, List, Moment, One, Page, parsePage } from '../lib/paging/page.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import { idParam, parseQuery, Uuid } from '../lib/validation/parse.ts';
import { maxNameLength } from '../limits.ts';
import { contactStatuses, exportContacts, listContacts } from './queries.ts';
import { type Properties, validateName, validateProperties } from './rules.ts';
import { addContact, deleteContact } from './save.ts';

export function contactReads(tools: ReplicaTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/', (c) =>
    answer(c, 'list', (orgId) => listContacts(tools.db, orgId, parsePage(c.req.queries()))),
  );
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
      return exportResponse(format, { name: 'contacts', parts });
    })

    .post('/', async (c) => {
      const key = requireWrite(c.var.key);
      const contact = await addContact({ db }, key, await parseBody(c, ContactInput));
      return c.json({ data: contact }, 201);
    })

    .all('/export', (c) => c.notFound()) // keeps `/:id` from matching, so that a 405 lists the right methods
    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      await deleteContact({ db }, by, idParam(c, 'contact'));
      return c.body(null, 204);
    });
}

export const Email = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isMailable, 'is not an email address'),
  v.metadata({ format: 'email' }),
  v.transform((text) => normalizeEmail(text) ?? text),
);

export const ContactName = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed && validateName(dataset.value);
    if (message) addIssue({ message });
  }),
  v.metadata({ maxLength: maxNameLength }),
  v.transform((name) => name || null),
);

export const ContactProperties = v.pipe(
  v.custom<Properties>(() => true),
  v.metadata({ type: 'object', additionalProperties: true }),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = validateProperties(dataset.value);
    if (message) addIssue({ message });
  }),
);

export const ContactInput = v.object({
  email: Email,
  survey_id: described(Uuid, 'a survey of the organization'),
  name: v.nullish(ContactName, null),
  properties: described(
    v.nullish(ContactProperties, {}),
    'custom fields, merged into the existing ones',
  ),
});

const ContactExportQuery = v.object({
  survey_id: described(v.optional(Uuid), 'only contacts of this survey'),
  format: ExportFormat,
});

const status = v.picklist(contactStatuses);

const ContactItem = v.object({
  id: Id,
  email: v.string(),
  name: v.nullable(v.string()),
  status,
  failure_reason: described(v.nullable(v.string()), 'why the last email failed'),
  sent_at: described(v.nullable(Moment), 'null until sent'),
  responded_at: described(v.nullable(Moment), 'null until responded'),
  round: described(Count, 'number of the round, from 1'),
  survey_id: Id,
  survey_name: v.string(),
});

const Contact = v.object({
  id: Id,
  email: v.string(),
  name: v.nullable(v.string()),
  round: Count,
  status,
  created_at: Moment,
});

export const contactSection: ApiSection = {
  name: 'Contacts',
  about:
    'A contact is one email address on one survey, in one round. Addresses are compared case-insensitively. Each round ' +
    'of a survey that repeats adds a contact with its own link.',
  schemas: { ContactItem, Contact },
  bodies: { NewContact: ContactInput },
  operations: {
    'get /api/v1/contacts': {
      id: 'listContacts',
      summary: 'List contacts, newest first',
      about: 'Contacts of all surveys, with the status of their email and response.',
      query: Page,
      answer: { about: 'a page of contacts', schema: List(ContactItem) },
    },
    'post /api/v1/contacts': {
      id: 'saveContact',
      summary: 'Add a contact to a survey, or update it',
      about:
        'Posting an address again updates the contact of its latest round: a new name replaces the old one, and properties ' +
        'are merged.',
      body: ContactInput,
      answer: { status: 201, about: 'the new or updated contact', schema: One(Contact) },
      notFound: 'survey',
      refusals: { 400: ['survey_closed'], 409: ['erased'] },
    },
    'get /api/v1/contacts/export': {
      id: 'exportContacts',
      summary: 'Export contacts as a file',
      about: `All contacts with their properties, newest first. ${csvDescription}`,
      query: ContactExportQuery,
      answer: { about: 'the file, streamed', files: exportTypes },
    },
    'delete /api/v1/contacts/{id}': {
      id: 'deleteContact',
      summary: 'Delete a contact',
      about:
        'Deletes its emails and responses too; earlier rounds keep theirs, and no later round asks the address again. The ' +
        'survey completes if all other contacts have responded. Other surveys can still email the address.',
      answer: { status: 204, about: 'deleted' },
      refusals: { 409: ['contact_in_flight'] },
    },
  },
};
