import type { ApiSection } from '../lib/openapi/section.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { EraseQuery, Erasure, ErasureQuery } from './erasure/schemas.ts';
import { Person } from './schemas.ts';

const address = { email: { about: 'the address, percent-encoded', schema: { type: 'string' } } };

export const peopleSection: ApiSection = {
  name: 'People',
  about: 'A person is one address over all surveys of the organization.',
  schemas: { Person, Erasure },
  operations: [
    {
      id: 'getPerson',
      method: 'get',
      path: '/api/v1/people/{email}',
      parameters: address,
      summary: 'Show what happened with an address',
      about:
        'Why it got a mail or none: when it was added, mailed or blocked and by which rule, what it opened and ' +
        'answered, where that was delivered, and whether it unsubscribed or bounced. Oldest first.',
      permission: 'read',
      answer: { status: 200, about: 'all of it', schema: One(Person) },
      refusals: { 404: { about: 'nothing is known of this address' } },
    },
    {
      id: 'erasePerson',
      method: 'delete',
      path: '/api/v1/people/{email}',
      parameters: address,
      summary: 'Erase a person, for good',
      about:
        'Deletes the contacts of the address, their mails, comments and all that was made of them; scores stay as those ' +
        'of anonymous responses. The answer is the receipt. From then on the address is refused or left out wherever it ' +
        'comes again, with `erased` as the code. Erasing again answers with the same receipt.',
      permission: 'write',
      query: EraseQuery,
      answer: { status: 200, about: 'the receipt', schema: One(Erasure) },
      refusals: { 404: { about: 'nothing is known of this address, and it was not erased' } },
    },
    {
      id: 'listErasures',
      method: 'get',
      path: '/api/v1/erasures',
      summary: 'List the receipts of erased persons, newest first',
      about: 'An address is known by its keyed hash alone: `email` finds the receipts of one.',
      permission: 'read',
      query: ErasureQuery,
      answer: { status: 200, about: 'a page of them', schema: List(Erasure) },
    },
    {
      id: 'allowErased',
      method: 'post',
      path: '/api/v1/erasures/{id}/allow',
      summary: 'Let the address of an erased person be added and mailed again',
      about:
        'For a person who asks for it. What was erased stays erased. Doing it again changes nothing.',
      permission: 'write',
      answer: { status: 200, about: 'the receipt', schema: One(Erasure) },
    },
  ],
};
