import type { ApiSection } from '../lib/openapi/section.ts';
import { One } from '../lib/paging/schemas.ts';
import { KeyAccount, Usage } from './account.schemas.ts';

export const accountSection: ApiSection = {
  name: 'Account',
  about: 'The key of a request, its organization, and what is left of its limits.',
  schemas: { KeyAccount, Usage },
  operations: [
    {
      id: 'getMe',
      method: 'get',
      path: '/api/v1/me',
      summary: 'Show the key of this request and its organization',
      about: 'A cheap way to find out whether a key works, and what it may do.',
      permission: 'read',
      answer: { status: 200, about: 'both, with their limits', schema: One(KeyAccount) },
    },
    {
      id: 'getUsage',
      method: 'get',
      path: '/api/v1/usage',
      summary: 'Show how much is used',
      about: 'Mails of the month against its limit, and responses and contacts in all.',
      permission: 'read',
      answer: { status: 200, about: 'the numbers', schema: One(Usage) },
    },
  ],
};
