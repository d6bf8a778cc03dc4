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
import { addNote, deleteResponse, followUp } from '../follow-up.ts';
import { findResponse } from '../queries.ts';
import { releaseResponse } from '../release.ts';
import { setTags } from '../tagging.ts';
import { ResponseDetail } from './detail.tsx';
import { go, idOf, pathOf, trailOf } from './paths.ts';
import { findChoices, findOrigin, listOthers } from './shown.queries.ts';
import { personOf, type ShownResponse } from './shown.ts';
import { responseTexts as texts } from './texts.ts';

export type ResponseScreenTools = { db: Db; excerpt: Excerpt; pump: () => void };

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
      await followUp(tools, editor, { id, ...form.values });
      return go(c, `${pathOf(c)}/${id}`, { kind: 'fine', text: texts.saved });
    })

    .post('/:id/tags', async (c) => {
      const editor = requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const form = await readForm(c, TagFields);
      const { tag, untag } = form.values ?? {};
      const before = response.tags.map((each) => each.id).filter((id) => id !== untag);
      const tagIds = untag || !tag ? before : [...before, tag];
      await setTags(tools, editor, { id: response.id, tagIds });
      return go(c, `${pathOf(c)}/${response.id}`, { kind: 'fine', text: texts.saved });
    })

    .post('/:id/notes', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c);
      const form = await readForm(c, NoteInput);
      if (form.errors) return await showResponse(c, tools.db, form);
      await addNote(tools, editor, { id, text: form.values.text });
      return go(c, `${pathOf(c)}/${id}`, { kind: 'fine', text: texts.noted });
    })

    .post('/:id/release', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idOf(c);
      await releaseResponse(tools, editor, id);
      tools.pump();
      return go(c, `${pathOf(c)}/${id}`, { kind: 'fine', text: texts.released });
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const response = await getResponse(c, tools.db);
      const here = `${pathOf(c)}/${response.id}`;
      const trail = [...trailOf(c), { text: personOf(response), href: here }];
      const body = (
        <Confirm action={`${here}/delete`} button="Delete" cancel={here}>
          <p>{texts.deleteMeans}</p>
          <p>{texts.deleteStays}</p>
        </Confirm>
      );
      return renderScreen(c, { title: texts.deleteTitle, section: 'responses', trail, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      await deleteResponse(tools, editor, idOf(c));
      return go(c, pathOf(c), { kind: 'fine', text: texts.deleted });
    });

async function showResponse(c: Context<ScreenEnv>, db: Db, note: FormState) {
  const { id: orgId, role } = c.var.organization;
  const response = await getResponse(c, db);
  const [origin, choices] = await Promise.all([
    findOrigin(db, orgId, response.id),
    findChoices(db, orgId, null),
  ]);
  if (!origin) throw notFound('response');
  const { contact_id: contactId } = origin;
  const others = contactId ? await listOthers(db, orgId, { id: response.id, contactId }) : [];
  const editor = role === 'viewer' ? null : c.var.member.email;
  const path = pathOf(c);
  return renderScreen(c, {
    title: `Response of ${personOf(response)}`,
    heading: 'Response',
    section: 'responses',
    trail: trailOf(c),
    status: Object.keys(note.errors).length > 0 ? 422 : 200,
    body: <ResponseDetail {...{ response, origin, others, choices, path, editor, note }} />,
  });
}

async function getResponse(c: Context<ScreenEnv>, db: Db): Promise<ShownResponse> {
  const found = await readJson<{ data: ShownResponse } | null>(
    db,
    findResponse(db, c.var.organization.id, idOf(c)),
  );
  if (!found) throw notFound('response');
  return found.data;
}
