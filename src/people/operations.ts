import type { ApiSection } from '../lib/openapi/section.ts';
import { One } from '../lib/paging/schemas.ts';
import { Person } from './schemas.ts';

export const peopleSection: ApiSection = {
  name: 'People',
  about: 'A person is one address over all surveys of the organization.',
  schemas: { Person },
  operations: [
    {
      id: 'getPerson',
      method: 'get',
      path: '/api/v1/people/{email}',
      parameters: { email: { about: 'the address, percent-encoded', schema: { type: 'string' } } },
      summary: 'Show what happened with an address',
      about:
        'Why it got a mail or none: when it was added, mailed or blocked and by which rule, what it opened and ' +
        'answered, where that was delivered, and whether it unsubscribed or bounced. Oldest first.',
      permission: 'read',
      answer: { status: 200, about: 'all of it', schema: One(Person) },
      refusals: { 404: { about: 'nothing is known of this address' } },
    },
  ],
};
