import type { ApiSection } from '../lib/openapi/section.ts';
import { One } from '../lib/paging/schemas.ts';
import { NewTagInput, Tag, TagChangeInput, TagList } from './schemas.ts';

export const tagSection: ApiSection = {
  name: 'Tags',
  about: 'Words with a color, to sort responses by.',
  schemas: { Tag },
  operations: [
    {
      id: 'listTags',
      method: 'get',
      path: '/api/v1/tags',
      summary: 'List tags, by name',
      about: 'All tags in one answer, without pages.',
      permission: 'read',
      answer: { status: 200, about: 'all of them', schema: TagList },
    },
    {
      id: 'createTag',
      method: 'post',
      path: '/api/v1/tags',
      summary: 'Make a tag',
      about: 'One tag a name.',
      permission: 'write',
      body: NewTagInput,
      answer: { status: 201, about: 'the tag', schema: One(Tag) },
      refusals: { 409: { about: 'there is a tag of this name (`name_taken`)' } },
    },
    {
      id: 'changeTag',
      method: 'patch',
      path: '/api/v1/tags/{id}',
      summary: 'Change the name or the color of a tag',
      about: 'Responses that have the tag keep it.',
      permission: 'write',
      body: TagChangeInput,
      answer: { status: 200, about: 'the tag as it is now', schema: One(Tag) },
      refusals: { 409: { about: 'there is another tag of this name (`name_taken`)' } },
    },
    {
      id: 'deleteTag',
      method: 'delete',
      path: '/api/v1/tags/{id}',
      summary: 'Delete a tag',
      about: 'It is taken from all responses that have it.',
      permission: 'write',
      answer: { status: 204, about: 'it is gone' },
    },
  ],
};
