import type { ApiSection } from '../lib/openapi/section.ts';
import { Page } from '../lib/paging/page.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { Summary } from './schemas.ts';

const path = '/api/v1/summaries';

export const summarySection: ApiSection = {
  name: 'Summaries',
  about: 'Executive summaries of what was answered in a period.',
  schemas: { Summary },
  operations: [
    {
      id: 'listSummaries',
      method: 'get',
      path,
      summary: 'List summaries, newest first',
      about:
        'One for each calendar month with responses, and those that were asked for on the command line.',
      permission: 'read',
      query: Page,
      answer: { status: 200, about: 'a page of them', schema: List(Summary) },
    },
    {
      id: 'getSummary',
      method: 'get',
      path: `${path}/{id}`,
      summary: 'Get a summary',
      about: 'The text, and the figures that it is about.',
      permission: 'read',
      answer: { status: 200, about: 'the summary', schema: One(Summary) },
    },
  ],
};
