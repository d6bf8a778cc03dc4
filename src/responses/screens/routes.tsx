import { Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../../audit/export.ts';
import { answerExport } from '../../lib/export/export.ts';
import { isUuid, Uuid } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { readForm, severalOf } from '../../web/app/forms.tsx';
import { counted } from '../../web/app/lists.tsx';
import { exportResponses } from '../export.ts';
import { filterOf, parseFiltered } from '../filter.ts';
import { followUpMany, tagMany } from '../follow-up.ts';
import { releaseMany } from '../release.ts';
import { ResponseExportQuery } from '../schemas.ts';
import { listScreen } from './inbox.tsx';
import { filled, go, inZone, pathOf } from './paths.ts';
import { type ResponseScreenTools, responseScreen } from './response.tsx';

const releasedMany = (many: string, one: boolean) =>
  one
    ? `${many} released: it counts now, and its events are delivered.`
    : `${many} released: they count now, and their events are delivered.`;

const followed = {
  done: (many: string) => `${many} marked as done.`,
  open: (many: string) => `${many} opened again.`,
  take: (many: string) => `You own ${many} now.`,
} as const;

const ManyFields = v.object({
  id: severalOf(Uuid),
  tag: v.optional(v.string(), ''),
  do: v.picklist(['tag', 'untag', 'done', 'open', 'take', 'release']),
  query: v.optional(v.string(), ''),
});

/** Responses: below `/o/:slug/responses`. Everybody reads them, editors do something about them. */
export const responseScreens = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', listScreen(tools.db))

    .get('/export', async (c) => {
      const { orgId, actor } = requireRole(c, 'editor');
      const { format, ...query } = parseFiltered(ResponseExportQuery, {
        ...inZone(c.var.organization),
        ...filled(c),
      });
      const wish = { filter: filterOf(query), format };
      await recordExport(tools.db, { orgId, actor }, 'responses.exported');
      const parts = exportResponses({ db: tools.db }, orgId, wish);
      return answerExport(format, { name: 'responses', parts });
    })

    .post('/chosen', async (c) => {
      const editor = requireRole(c, 'editor');
      const form = await readForm(c, ManyFields);
      const { id: responseIds = [], tag = '', query = '', do: act = 'tag' } = form.values ?? {};
      const back = `${pathOf(c)}?${new URLSearchParams(query)}`;
      if (responseIds.length === 0)
        return go(c, back, {
          kind: 'failed',
          text: 'No response was chosen. Tick some, then press the button again.',
        });
      if (act === 'release') {
        const many = await releaseMany(tools, editor, responseIds);
        if (many === 0)
          return go(c, back, { kind: 'warning', text: 'None of the chosen responses is held.' });
        const released = releasedMany(counted(many, 'response'), many === 1);
        return go(c, back, { kind: 'fine', text: released });
      }
      if (act !== 'tag' && act !== 'untag') {
        const many = await followUpMany(tools, editor, { responseIds, act });
        return go(c, back, { kind: 'fine', text: followed[act](counted(many, 'response')) });
      }
      if (!isUuid(tag)) return go(c, back, { kind: 'failed', text: 'No tag was chosen.' });
      const put = act === 'tag';
      const many = await tagMany(tools, editor, { responseIds, tagId: tag, put });
      const found = counted(many, 'response');
      return go(c, back, {
        kind: 'fine',
        text: put ? `The tag is on ${found}.` : `The tag is taken from ${found}.`,
      });
    })

    .route('/', responseScreen(tools));
