import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../../audit/export-act.ts';
import type { Db } from '../../lib/db/db.ts';
import { answerExport } from '../../lib/export/answer.ts';
import { readList } from '../../lib/paging/paged-json.ts';
import { isUuid, Uuid } from '../../lib/validation/parse.ts';
import { requireRole, type ScreenEnv } from '../../sessions/session.ts';
import { counted } from '../../web/app/lists.tsx';
import { readForm, severalOf } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { exportResponses } from '../export.ts';
import { parseFiltered } from '../facet-parameters.ts';
import { followUpMany } from '../follow-up.ts';
import { listResponses } from '../queries.ts';
import { filterOf } from '../read-filter.ts';
import { ResponseExportQuery, ResponseQuery } from '../schemas.ts';
import { runSearch } from '../search.ts';
import { tagMany } from '../tagging.ts';
import { Filters } from './filters.tsx';
import { listId, ResponseList } from './list.tsx';
import { type ResponseScreenTools, responseScreen } from './one.tsx';
import { go, pathOf } from './paths.ts';
import { findChoices } from './shown.queries.ts';
import type { ShownResponse } from './shown.ts';
import { responseTexts as texts } from './texts.ts';

const rowsOnPage = '25';

const ManyFields = v.object({
  id: severalOf(Uuid),
  tag: v.optional(v.string(), ''),
  do: v.picklist(['tag', 'untag', 'done', 'open', 'take']),
  query: v.optional(v.string(), ''),
});

/** Responses: below `/o/:slug/responses`. Everybody reads them, editors do something about them. */
export const responseScreens = (tools: ResponseScreenTools) =>
  new Hono<ScreenEnv>()
    .get('/', (c) => showList(c, tools.db))

    .get('/export', async (c) => {
      const { orgId, actor } = requireRole(c, 'editor');
      const { format, ...query } = parseFiltered(ResponseExportQuery, {
        ...inZone(c),
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
      if (responseIds.length === 0) return go(c, back, { kind: 'failed', text: texts.noneChosen });
      if (act !== 'tag' && act !== 'untag') {
        const many = await followUpMany(tools, editor, { responseIds, act });
        return go(c, back, { kind: 'fine', text: texts.followed[act](counted(many, 'response')) });
      }
      if (!isUuid(tag)) return go(c, back, { kind: 'failed', text: texts.noTagChosen });
      const put = act === 'tag';
      const many = await tagMany(tools, editor, { responseIds, tagId: tag, put });
      const found = counted(many, 'response');
      return go(c, back, { kind: 'fine', text: put ? texts.tagged(found) : texts.untagged(found) });
    })

    .route('/', responseScreen(tools));

async function showList(c: Context<ScreenEnv>, db: Db) {
  const { id: orgId, role } = c.var.organization;
  const queries = filled(c);
  const page = parseFiltered(ResponseQuery, {
    limit: [rowsOnPage],
    ...inZone(c),
    ...queries,
  });
  const filter = filterOf(page);
  const read = (sql: Parameters<typeof listResponses>[0]) =>
    readList<ShownResponse>(sql, listResponses(sql, orgId, { filter, page }));
  const [listed, choices] = await Promise.all([
    filter.pattern === null ? read(db) : runSearch(db, c.req.raw.signal, read),
    findChoices(db, orgId, filter.survey_id),
  ]);
  const { data: responses, meta } = listed as typeof listed & { meta: ListMeta };
  const path = pathOf(c);
  const query = new URLSearchParams(
    Object.entries(queries).flatMap(([name, values]) => values.map((value) => [name, value])),
  );
  const mayChange = role !== 'viewer';
  return renderScreen(c, {
    title: 'Responses',
    section: 'responses',
    body: (
      <>
        <Filters path={path} updates={listId} query={query} choices={choices} />
        <div class="part">
          <ResponseList {...{ path, query, responses, meta, choices, mayChange }} />
        </div>
      </>
    ),
  });
}

/** Days are those of the organization's clock, as on Home, unless the address says otherwise. */
const inZone = (c: Context<ScreenEnv>) => ({ tz: [c.var.organization.timeZone] });

type ListMeta = { page: number; limit: number; total: number };

/** A field that was left empty is no filter. */
const filled = (c: Context<ScreenEnv>) =>
  Object.fromEntries(
    Object.entries(c.req.queries())
      .map(([name, values]) => [name, values.filter((value) => value !== '')] as const)
      .filter(([, values]) => values.length > 0),
  );
