import { aboutCsv, exportTypes } from '../lib/export/answer.ts';
import type { ApiSection } from '../lib/openapi/section.ts';
import { Page } from '../lib/paging/page.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { Contact, ContactExportQuery, ContactInput, ContactItem } from './schemas.ts';

const path = '/api/v1/contacts';

export const contactSection: ApiSection = {
  name: 'Contacts',
  about: 'The people a survey is for; one row for each address of a survey, whatever its case.',
  schemas: { ContactItem, Contact },
  operations: [
    {
      id: 'listContacts',
      method: 'get',
      path,
      summary: 'List contacts, newest first',
      about: 'Contacts of all surveys, each with the state of its mail and of its answer.',
      permission: 'read',
      query: Page,
      answer: { status: 200, about: 'a page of them', schema: List(ContactItem) },
    },
    {
      id: 'saveContact',
      method: 'post',
      path,
      summary: 'Add a contact to a survey, or update it',
      about:
        'The same email on the same survey is the same contact: a name that is given replaces the old one, ' +
        'properties are merged.',
      permission: 'write',
      body: ContactInput,
      answer: { status: 201, about: 'the contact, added or updated', schema: One(Contact) },
      refusals: {
        404: { about: 'the survey is not in the organization' },
        409: { about: 'the person of this address was erased (`erased`)' },
      },
    },
    {
      id: 'exportContacts',
      method: 'get',
      path: `${path}/export`,
      summary: 'Export contacts as a file',
      about: `All of them, newest first, with their properties. ${aboutCsv}`,
      permission: 'read',
      query: ContactExportQuery,
      answer: { status: 200, about: 'the file, as long as it is', files: exportTypes },
    },
    {
      id: 'deleteContact',
      method: 'delete',
      path: `${path}/{id}`,
      summary: 'Delete a contact, with its mails and its answers',
      about:
        'A survey completes when all of its other contacts have answered. Whether the address may be mailed by other ' +
        'surveys stays as it is.',
      permission: 'write',
      answer: { status: 204, about: 'it is gone' },
      refusals: { 409: { about: 'a mail to it is on its way (`contact_in_flight`)' } },
    },
  ],
};
