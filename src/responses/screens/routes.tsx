import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../../audit/export.ts';
import { toSentence } from '../../errors.ts';
import type { Db } from '../../lib/db/db.ts';
import { exportResponse } from '../../lib/export/export.ts';
import { idParam, isUuid, Uuid } from '../../lib/validation/parse.ts';
import { replyToResponse } from '../../replies/reply.ts';
import { insertCannedText, ReplyFields } from '../../replies/reply-part.tsx';
import type { SendProgress } from '../../sends/send.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { Confirm } from '../../web/app/badges.tsx';
import { redirectWith } from '../../web/app/flash.ts';
import { listField, readForm } from '../../web/app/forms.tsx';
import { counted } from '../../web/app/lists.tsx';
import { renderScreen } from '../../web/app/screen.tsx';
import type { Excerpt } from '../events.ts';
import { exportResponses } from '../export.ts';
import { filterOf, parseFiltered } from '../filter.ts';
import { addNote, deleteResponse, followUp, followUpMany, setTags, tagMany } from '../follow-up.ts';
import { releaseMany, tryRelease } from '../release.ts';
import { FollowUpFields, NoteInput, ResponseExportQuery } from '../schemas.ts';
import { showInbox } from './inbox.tsx';
import { getResponse } from './pane.tsx';
import { filled, forApi, pathOf, personOf, queryOf } from './paths.ts';
import { viewScreens } from './views.tsx';

type ResponseScreenTools = {
  db: Db;
  excerpt: Excerpt;
  progress: Pick<SendProgress, 'watch'>;
};

const bulkResults = {
  done: 'marked as done',
  open: 'reopened',
  take: 'assigned to you',
} as const;

const TagFields = v.object({ tag: v.optional(Uuid), untag: v.optional(Uuid) });

const ManyFields = v.object({
  id: listField(Uuid),
  tag: v.optional(v.string(), ''),
  do: v.picklist(['tag', 'untag', 'done', 'open', 'take', 'release']),
  query: v.optional(v.string(), ''),
});

/** Routes below `/o/:slug/responses`. */
export const responseScreens = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showInbox(c, tools.db))

    .route('/views', viewScreens(tools))

    .get('/export', async (c) => {
      const { orgId, actor } = requireRole(c, 'editor');
      const { format, ...query } = parseFiltered(ResponseExportQuery, {
        ...forApi(filled(c), c.var),
      });
      const wish = { filter: filterOf(query), format };
      await recordExport(tools.db, { orgId, actor }, 'responses.exported');
      const parts = exportResponses({ db: tools.db }, orgId, wish);
      return exportResponse(format, { name: 'responses', parts });
    })

    .post('/chosen', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, ManyFields);
      const { id: responseIds = [], tag = '', query = '', do: act = 'tag' } = form.values ?? {};
      const back = `${pathOf(c)}?${new URLSearchParams(query)}`;
      if (responseIds.length === 0) {
        return redirectWith(c, back, 'Select at least one response.', 'failed');
      }
      if (act === 'release') {
        const released = await releaseMany(tools, editor, responseIds);
        return released === 0
          ? redirectWith(c, back, 'None of the selected responses is on hold.', 'warning')
          : redirectWith(c, back, `${counted(released, 'response')} released.`);
      }
      if (act !== 'tag' && act !== 'untag') {
        const changed = await followUpMany(tools, editor, { responseIds, act });
        return redirectWith(c, back, `${counted(changed, 'response')} ${bulkResults[act]}.`);
      }
      if (!isUuid(tag)) return redirectWith(c, back, 'Select a tag.', 'failed');
      const put = act === 'tag';
      const tagged = await tagMany(tools, editor, { responseIds, tagId: tag, put });
      const target = `${put ? 'added to' : 'removed from'} ${counted(tagged, 'response')}`;
      return redirectWith(c, back, `Tag ${target}.`);
    })

    .get('/:id', (c) => showInbox(c, tools.db, { id: idParam(c, 'response') }))

    .post('/:id', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      const form = await readForm(c, FollowUpFields);
      if (form.errors) return await showInbox(c, tools.db, { id, forms: { note: form } });
      const outcome = await followUp(tools, editor, { id, ...form.values });
      if (outcome === 'saved') return redirectWith(c, hereOf(c, id), 'Response saved.');
      const text =
        'Nothing was saved: another member changed the owner since you opened this page. It now shows the current owner.';
      return redirectWith(c, hereOf(c, id), text, 'warning');
    })

    .post('/:id/tags', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id, tags } = await getResponse(c, tools.db, idParam(c, 'response'));
      const { tag, untag } = (await readForm(c, TagFields)).values ?? {};
      const before = tags.map((each) => each.id).filter((each) => each !== untag);
      await setTags(tools, editor, { id, tagIds: untag || !tag ? before : [...before, tag] });
      return redirectWith(c, hereOf(c, id), 'Tags saved.');
    })

    .post('/:id/notes', async (c) => {
      const editor = requireRole(c, 'editor');
      const id = idParam(c, 'response');
      const form = await readForm(c, NoteInput);
      if (form.errors) return await showInbox(c, tools.db, { id, forms: { note: form } });
      await addNote(tools, editor, { id, text: form.values.text });
      return redirectWith(c, hereOf(c, id), 'Note added.');
    })

    .post('/:id/replies', async (c) => {
      const editor = requireRole(c, 'editor');
      const responseId = idParam(c, 'response');
      const form = await readForm(c, ReplyFields);
      if (form.errors)
        return await showInbox(c, tools.db, { id: responseId, forms: { reply: form } });
      const { reply: text, reply_id: id, done: closes = false } = form.values;
      if (form.values.do === 'insert') {
        const reply = await insertCannedText(tools.db, editor.orgId, form.values);
        return await showInbox(c, tools.db, { id: responseId, forms: { reply } });
      }
      const { status, reason } = await replyToResponse(tools, editor, {
        responseId,
        text,
        id,
        closes,
      });
      const { kind, text: notice } = replyNotices[status];
      const why = reason ? ` Reason: ${toSentence(reason)}` : '';
      return redirectWith(c, hereOf(c, responseId), `${notice}${why}`, kind);
    })

    .post('/:id/release', async (c) => {
      const editor = requireRole(c, 'editor');
      const { id } = await getResponse(c, tools.db, idParam(c, 'response'));
      return (await tryRelease(tools, editor, id))
        ? redirectWith(c, hereOf(c, id), 'Response released. It counts now.')
        : redirectWith(c, hereOf(c, id), 'This response was already released.', 'warning');
    })

    .get('/:id/delete', async (c) => {
      requireRole(c, 'editor');
      const response = await getResponse(c, tools.db, idParam(c, 'response'));
      const title = `Delete the response of ${personOf(response)}`;
      const trail = [{ text: 'Responses', href: `${pathOf(c)}${queryOf(c)}` }];
      const body = (
        <Confirm
          action={hereOf(c, `${response.id}/delete`)}
          button="Delete"
          cancel={hereOf(c, response.id)}
        >
          <p>
            This permanently deletes the response with its notes, tags and analysis. Scores and
            trends will change. The person won’t be asked again.
          </p>
          <p>Webhook events that were already delivered can’t be recalled.</p>
        </Confirm>
      );
      return renderScreen(c, { title, section: 'responses', trail, body });
    })

    .post('/:id/delete', async (c) => {
      const editor = requireRole(c, 'editor');
      await deleteResponse(tools, editor, idParam(c, 'response'));
      return redirectWith(c, `${pathOf(c)}${queryOf(c)}`, 'Response deleted.');
    });

const replyNotices = {
  sending: { kind: 'fine', text: 'Sending the reply. The result appears with the response.' },
  sent: { kind: 'fine', text: 'Reply sent.' },
  failed: { kind: 'failed', text: 'The reply was not sent.' },
  unknown: { kind: 'warning', text: 'The reply may not have arrived. It won’t be sent again.' },
} as const;

/** Keeps the filters of the list in the query. */
const hereOf = (c: Context<ScreenEnv>, below: string) => `${pathOf(c)}/${below}${queryOf(c)}`;
