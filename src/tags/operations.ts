import type { ApiSection } from '../lib/openapi/section.ts';
import { Tag, TagList } from './schemas.ts';

export const tagSection: ApiSection = {
  name: 'Tags',
  about: 'Words with a color.',
  schemas: { Tag },
  operations: [
    {
      id: 'listTags',
      method: 'get',
      path: '/api/v1/tags',
      summary: 'List tags, by name',
      about: 'All tags in one answer, without pages. Tags are created on the command line.',
      permission: 'read',
      answer: { status: 200, about: 'all of them', schema: TagList },
    },
  ],
};
