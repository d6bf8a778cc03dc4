import { Hono } from 'hono';
import * as v from 'valibot';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readIfMatch } from '../lib/http/version.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Count, described, Id, Moment, One } from '../lib/paging/page.ts';
import { idParam, Line } from '../lib/validation/parse.ts';
import { maxNameLength } from '../limits.ts';
import { changeTag, createTag, deleteTag, getTag, tagsJson, versionOfTag } from './tags.ts';

export function tagRoutes(tools: ReplicaTools) {
  const { db } = tools;
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', (c) => answer(c, 'list', (orgId) => tagsJson(db, orgId)))

    .get('/:id', async (c) => {
      const data = await getTag(db, c.var.key.org_id, idParam(c, 'tag'));
      return await answerRead(c, JSON.stringify({ data }), versionOfTag(data));
    })

    .post('/', async (c) => {
      const by = requireWrite(c.var.key);
      return c.json({ data: await createTag(db, by, await parseBody(c, NewTagInput)) }, 201);
    })

    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'tag');
      const change = await parseBody(c, TagChangeInput);
      return c.json({ data: await changeTag(db, by, { id, ...change, ifMatch: readIfMatch(c) }) });
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      await deleteTag(db, by, idParam(c, 'tag'));
      return c.body(null, 204);
    });
}

const Tag = v.object({
  id: Id,
  name: v.string(),
  color: described(v.pipe(v.string(), v.regex(/^#[0-9A-Fa-f]{6}$/)), 'hex color, #RRGGBB'),
  created_at: Moment,
});

const TagList = v.object({ data: v.array(Tag), meta: v.object({ total: Count }) });

const Color = v.pipe(
  v.string('must be text'),
  v.regex(/^#[0-9A-Fa-f]{6}$/, 'must be a hex color such as #1F6FEB'),
);

export const NewTagInput = v.object({ name: Line(maxNameLength), color: v.optional(Color) });
export const TagChangeInput = v.object({
  name: v.optional(Line(maxNameLength)),
  color: v.optional(Color),
});

export const tagSection: ApiSection = {
  name: 'Tags',
  about: 'Colored labels to group responses.',
  schemas: { Tag },
  bodies: { NewTag: NewTagInput, TagChange: TagChangeInput },
  operations: {
    'get /api/v1/tags': {
      id: 'listTags',
      summary: 'List tags, by name',
      about: 'Returns all tags, without pages.',
      answer: { about: 'all tags', schema: TagList },
    },
    'post /api/v1/tags': {
      id: 'createTag',
      summary: 'Create a tag',
      about: 'Names are unique.',
      body: NewTagInput,
      answer: { status: 201, about: 'the tag', schema: One(Tag) },
      refusals: { 400: ['too_many_tags'], 409: ['name_taken'] },
    },
    'get /api/v1/tags/{id}': {
      id: 'getTag',
      summary: 'Get a tag',
      about: 'Send the `ETag` as `If-Match` when you change the tag.',
      answer: { about: 'the tag', schema: One(Tag) },
    },
    'patch /api/v1/tags/{id}': {
      id: 'changeTag',
      summary: 'Change the name or the color of a tag',
      about: 'Responses that have the tag keep it.',
      ifMatch: true,
      body: TagChangeInput,
      answer: { about: 'the changed tag', schema: One(Tag) },
      refusals: { 409: ['name_taken'] },
    },
    'delete /api/v1/tags/{id}': {
      id: 'deleteTag',
      summary: 'Delete a tag',
      about: 'Removes the tag from all responses.',
      answer: { status: 204, about: 'the tag was deleted' },
    },
  },
};
