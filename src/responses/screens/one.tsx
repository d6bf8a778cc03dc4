import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { readJson } from '../../lib/paging/paged-json.ts';
import { Uuid } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm } from '../../web/app/acts.tsx';
import { emptyForm, type FormState, readForm } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import type { Excerpt } from '../answer.ts';
import { FollowUpFields, NoteInput } from '../change.schemas.ts';
import { parseFiltered } from '../facet-parameters.ts';
import { addNote, deleteResponse, followUp } from '../follow-up.ts';
import { findNeighbours } from '../neighbours.ts';
import { findResponse } from '../queries.ts';
import { filterOf } from '../read-filter.ts';
import { tryRelease } from '../release.ts';
import { ResponseQuery } from '../schemas.ts';
import { setTags } from '../tagging.ts';
import { NextResponses, ResponseDetail, whoId } from './detail.tsx';
import { Pane } from './pane.tsx';
import {
  filled,
  go,
  idOf,
  inZone,
  listPathOf,
  pathOf,
  queryOf,
  responsePathOf,
  trailOf,
} from './paths.ts';
import { findChoices, findOrigin, listOthers } from './shown.queries.ts';
import { personOf, type ShownResponse } from './shown.ts';

export type ResponseScreenTools = { db: Db; excerpt: Excerpt };

const TagFields = v.object({ tag: v.optional(Uuid), untag: v.optional(Uuid) });

/** One response, and what editors do about it: below `/o/:slug/responses/:id`. */
export const responseScreen = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/:id', (c) => showResponse(c, tools.db, emptyForm()))

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c);
      const form = await readForm(c, FollowUpFields);
      if (form.errors) return await showResponse(c, tools.db, form);
      const outcome = await followUp(tools, editor, { id, ...form.values });
      const isSaved = outcome === 'saved';
      return go(c, responsePathOf(c, id), {
        kind: isSaved ? 'fine' : 'warning',
        text: isSaved
          ? 'The response is saved.'
          : 'Nothing was saved: another member changed the owner of this response since you opened it. The page shows the owner of now.',
      });
    })

    .post('/:id/tags', async (c) => {
      const editor = requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const form = await readForm(c, TagFields);
      const { tag, untag } = form.values ?? {};
      const before = response.tags.map((each) => each.id).filter((id) => id !== untag);
      const tagIds = untag || !tag ? before : [...before, tag];
      await setTags(tools, editor, { id: response.id, tagIds });
      return go(c, responsePathOf(c, response.id), {
        kind: 'fine',
        text: 'The response is saved.',
      });
    })

    .post('/:id/notes', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c);
      const form = await readForm(c, NoteInput);
      if (form.errors) return await showResponse(c, tools.db, form);
      await addNote(tools, editor, { id, text: form.values.text });
      return go(c, responsePathOf(c, id), { kind: 'fine', text: 'The note is saved.' });
    })

    .post('/:id/release', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c);
      await getResponse(c, tools.db);
      const released = await tryRelease(tools, editor, id);
      return go(c, responsePathOf(c, id), {
        kind: released ? 'fine' : 'warning',
        text: released
          ? 'The response is released: it counts now, and its events are delivered.'
          : 'This response is not held any more: it was released already.',
      });
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const here = responsePathOf(c, response.id);
      const action = `${pathOf(c)}/${response.id}/delete${queryOf(c)}`;
      const trail = [...trailOf(c), { text: personOf(response), href: here }];
      const body = (
        <Pane list={listPathOf(c)} says="Delete this response">
          <h2 class="in-pane">Delete the response of {personOf(response)}</h2>
          <Confirm action={action} button="Delete" cancel={here}>
            <p>
              It counts nowhere any more: scores and trends change. Its notes, tags and analysis are
              lost with it. The person is not asked again.
            </p>
            <p>What was delivered to webhooks stays there.</p>
          </Confirm>
        </Pane>
      );
      return renderScreen(c, { title: 'Delete this response', section: 'responses', trail, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      await deleteResponse(tools, editor, idOf(c));
      return go(c, listPathOf(c), { kind: 'fine', text: 'The response is deleted.' });
    });

async function showResponse(c: Context<ScreenEnv>, db: Db, note: FormState) {
  const { id: orgId, role } = c.var.organization;
  const response = await getResponse(c, db);
  const [origin, choices] = await Promise.all([
    findOrigin(db, orgId, response.id),
    findChoices(db, orgId, null),
  ]);
  if (!origin) throw notFound('response');
  const { contact_id: contactId, at } = origin;
  const { id } = response;
  const [others, neighbours] = await Promise.all([
    contactId ? listOthers(db, orgId, { id, contactId }) : [],
    findNeighbours(db, orgId, {
      filter: filterIn(c),
      position: { at, id },
      callerGone: c.req.raw.signal,
    }),
  ]);
  const editor = role === 'viewer' ? null : c.var.member.email;
  const [path, query] = [pathOf(c), queryOf(c)];
  const title = `Response of ${personOf(response)}`;
  return renderScreen(c, {
    title,
    heading: 'Response',
    section: 'responses',
    trail: trailOf(c),
    actions: <NextResponses {...{ path, query, neighbours }} />,
    status: Object.keys(note.errors).length > 0 ? 422 : 200,
    body: (
      <Pane list={listPathOf(c)} labelledBy={whoId} says={title}>
        <ResponseDetail {...{ response, origin, others, choices, path, query, editor, note }} />
      </Pane>
    ),
  });
}

/** The filters of the list that the page was opened from. */
function filterIn(c: Context<ScreenEnv>) {
  const queries = { ...inZone(c.var.organization), ...filled(c) };
  return filterOf(parseFiltered(ResponseQuery, queries));
}

async function getResponse(c: Context<ScreenEnv>, db: Db): Promise<ShownResponse> {
  const found = await readJson<{ data: ShownResponse } | null>(
    db,
    findResponse(db, c.var.organization.id, idOf(c)),
  );
  if (!found) throw notFound('response');
  return found.data;
}
