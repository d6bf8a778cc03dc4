import type { Context } from 'hono';
import { shareReads } from '../../lib/async/shared-reads.ts';
import type { Db } from '../../lib/db/db.ts';
import { linkRequests } from '../../lib/http/request-spans.ts';
import { readList } from '../../lib/paging/paged-json.ts';
import type { CurrentOrganization, ScreenEnv } from '../../sessions/session.ts';
import { drawNow } from '../../web/app/drawn-once.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { parseFiltered } from '../facet-parameters.ts';
import { listResponses } from '../queries.ts';
import { filterOf } from '../read-filter.ts';
import { ResponseQuery } from '../schemas.ts';
import { runSearch } from '../search.ts';
import { Filters } from './filters.tsx';
import { listId, ResponseList } from './list.tsx';
import { filled, inZone, pathOf } from './paths.ts';
import { findChoices } from './shown.queries.ts';
import type { ShownResponse } from './shown.ts';

const rowsOnPage = '25';

/** All that the list depends on. */
type AskedList = {
  organization: Pick<CurrentOrganization, 'id' | 'timeZone'>;
  path: string;
  queries: Record<string, string[]>;
  mayChange: boolean;
};

/** The list of responses. Members who ask for the same share a read; a search ends when its reader has gone. */
export function listScreen(db: Db) {
  const drawShared = shareReads((asked: AskedList) => drawList(db, asked), linkRequests);
  return async (c: Context<ScreenEnv>) => {
    const asked = askedOf(c);
    const body = asked.queries['search']
      ? await drawList(db, asked, c.req.raw.signal)
      : await drawShared(asked, c);
    return renderScreen(c, { title: 'Responses', section: 'responses', body });
  };
}

function askedOf(c: Context<ScreenEnv>): AskedList {
  const { id, timeZone, role } = c.var.organization;
  return {
    organization: { id, timeZone },
    path: pathOf(c),
    queries: filled(c),
    mayChange: role !== 'viewer',
  };
}

async function drawList(db: Db, asked: AskedList, callerGone?: AbortSignal) {
  const { organization, path, queries, mayChange } = asked;
  const orgId = organization.id;
  const page = parseFiltered(ResponseQuery, {
    ...{ limit: [rowsOnPage], ...inZone(organization) },
    ...queries,
  });
  const filter = filterOf(page);
  const read = (sql: Parameters<typeof listResponses>[0]) =>
    readList<ShownResponse>(sql, listResponses(sql, orgId, { filter, page }));
  const [listed, choices] = await Promise.all([
    callerGone ? runSearch(db, callerGone, read) : read(db),
    findChoices(db, orgId, filter.survey_id),
  ]);
  const { data: responses, meta } = listed as typeof listed & { meta: ListMeta };
  const query = new URLSearchParams(
    Object.entries(queries).flatMap(([name, values]) => values.map((value) => [name, value])),
  );
  return drawNow(
    <>
      <Filters path={path} updates={listId} query={query} choices={choices} />
      <div class="part">
        <ResponseList {...{ path, query, responses, meta, choices, mayChange }} />
      </div>
    </>,
  );
}

type ListMeta = { page: number; limit: number; total: number };
