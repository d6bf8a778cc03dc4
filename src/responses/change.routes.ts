import { type Context, Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { isUuid } from '../lib/validation/parse.ts';
import type { Excerpt } from './answer.ts';
import { FollowUpInput, NoteInput, TagsInput } from './change.schemas.ts';
import { addNote, deleteResponse, followUp } from './follow-up.ts';
import { findResponse } from './queries.ts';
import { releaseResponse } from './release.ts';
import { setTags } from './tagging.ts';

type ChangeTools = { db: Db; excerpt: Excerpt };

/** What is done with responses after they came in. */
export const responseChanges = (tools: ChangeTools) =>
  new Hono<ApiEnv>()
    .patch('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idOf(c);
      await followUp(tools, by, { id, ...(await parseBody(c, FollowUpInput)) });
      return await show(c, tools, id);
    })

    .put('/:id/tags', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idOf(c);
      const { tags } = await parseBody(c, TagsInput);
      await setTags(tools, by, { id, tagIds: tags });
      return await show(c, tools, id);
    })

    .post('/:id/notes', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idOf(c);
      const { text } = await parseBody(c, NoteInput);
      return c.json({ data: await addNote(tools, by, { id, text }) }, 201);
    })

    .post('/:id/release', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idOf(c);
      await releaseResponse(tools, by, id);
      return await show(c, tools, id);
    })

    .delete('/:id', async (c) => {
      const by = requireWrite(c.var.key);
      await deleteResponse(tools, by, idOf(c));
      return c.body(null, 204);
    });

/** An id that is not a UUID is not found, like one of another organization. */
function idOf(c: Context<ApiEnv>): string {
  const id = c.req.param('id') ?? '';
  if (!isUuid(id)) throw notFound('response');
  return id;
}

const show = (c: Context<ApiEnv>, { db }: ChangeTools, id: string) =>
  answerJson(c, db, findResponse(db, c.var.key.org_id, id));
