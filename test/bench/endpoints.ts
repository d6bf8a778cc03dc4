import type { Client } from './clients.ts';
import { rareWord } from './seed.ts';

export type Endpoint = {
  name: string;
  /** Whose keys ask: everybody's in turn, or those of the large organization. */
  of: 'any' | 'large';
  path: (client: Client) => string;
};

const recent = new Date(Date.now() - 45 * 24 * 3600 * 1000).toISOString();
const responses = '/api/v1/responses';

/** What is measured: each GET of v1, its filters, and what is worst about it. */
export const endpoints: readonly Endpoint[] = [
  { name: 'surveys', of: 'any', path: () => '/api/v1/surveys' },
  { name: 'surveys/:id', of: 'any', path: ({ surveyId }) => `/api/v1/surveys/${surveyId}` },
  { name: 'responses', of: 'any', path: () => responses },
  { name: 'responses of the large organization', of: 'large', path: () => responses },
  { name: 'responses, page 10,000', of: 'large', path: () => `${responses}?page=10000` },
  {
    name: 'responses of one survey',
    of: 'any',
    path: ({ surveyId }) => `${responses}?survey_id=${surveyId}`,
  },
  { name: 'responses of a category', of: 'any', path: () => `${responses}?category=detractor` },
  { name: 'responses since a time', of: 'any', path: () => `${responses}?date_from=${recent}` },
  {
    name: 'responses, search for a rare word',
    of: 'large',
    path: () => `${responses}?search=${rareWord}`,
  },
  { name: 'responses/:id', of: 'any', path: ({ responseId }) => `${responses}/${responseId}` },
  { name: 'nps', of: 'any', path: () => '/api/v1/nps' },
  { name: 'nps of the large organization', of: 'large', path: () => '/api/v1/nps' },
  { name: 'nps since a time', of: 'any', path: () => `/api/v1/nps?date_from=${recent}` },
  { name: 'contacts', of: 'any', path: () => '/api/v1/contacts' },
  { name: 'contacts, page 1,000', of: 'large', path: () => '/api/v1/contacts?page=1000' },
  { name: 'tags', of: 'any', path: () => '/api/v1/tags' },
];
