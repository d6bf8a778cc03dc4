import type { Room } from '../lib/openapi/openapi.ts';
import { Tag, TagList } from './schemas.ts';

export const tagRoom: Room = {
  name: 'Tags',
  about: 'Words with a color.',
  schemas: { Tag },
  operations: [
    {
      id: 'listTags',
      method: 'get',
      path: '/api/v1/tags',
      summary: 'List tags, by name',
      permission: 'read',
      answer: { status: 200, about: 'all of them', schema: TagList },
    },
  ],
};
