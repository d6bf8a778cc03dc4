import type { Context } from 'hono';
import type { Db } from '../../lib/db/db.ts';
import { readList } from '../../lib/paging/paged-json.ts';
import type { CurrentOrganization, ScreenEnv } from '../../sessions/session.ts';
import type { FormState } from '../../web/app/read-form.ts';
import { renderScreen } from '../../web/app/screen.tsx';
import { parseFiltered } from '../facet-parameters.ts';
import { listResponses } from '../queries.ts';
import { readInstants } from '../range.ts';
import { filterOf, rangeOf } from '../read-filter.ts';
import { ResponseQuery } from '../schemas.ts';
import { runSearch } from '../search.ts';
import { Filters } from './filters.tsx';
import { listId, ResponseList } from './list.tsx';
import { Split } from './pane.tsx';
import { filled, inZone, pathOf } from './paths.ts';
import { findChoices } from './shown.queries.ts';
import type { ShownResponse } from './shown.ts';

const rowsOnPage = '25';

type Queries = Record<string, string[]>;

type AskedList = {
  organization: Pick<CurrentOrganization, 'id' | 'timeZone'>;
  path: string;
  queries: Queries;
  mayChange: boolean;
};

/** The list of responses. A search ends when its reader has gone. */
export const listScreen = (db: Db) => async (c: Context<ScreenEnv>) => {
  const asked = askedOf(c);
  const callerGone = asked.queries['search'] ? c.req.raw.signal : undefined;
  const list = await readResponses(db, asked, callerGone);
  return renderScreen(c, { title: 'Responses', section: 'responses', ...list });
};

function askedOf(c: Context<ScreenEnv>): AskedList {
  const { id, timeZone, role } = c.var.organization;
  return {
    organization: { id, timeZone },
    path: pathOf(c),
    queries: filled(c),
    mayChange: role !== 'viewer',
  };
}

async function readResponses(db: Db, asked: AskedList, callerGone?: AbortSignal) {
  const { organization, path, mayChange } = asked;
  const { queries, form } = readDays(asked.queries, organization);
  const orgId = organization.id;
  const page = parsePage(queries, organization);
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
  const body = (
    <>
      <Filters {...{ path, query, choices, form }} updates={listId} />
      <Split>
        <ResponseList {...{ path, query, responses, meta, choices, mayChange }} />
      </Split>
    </>
  );
  return { body, status: Object.keys(form.errors).length > 0 ? 422 : 200 } as const;
}

const parsePage = (queries: Queries, organization: AskedList['organization']) =>
  parseFiltered(ResponseQuery, {
    limit: [rowsOnPage],
    ...inZone(organization),
    ...queries,
  });

/** A value that is not a day is no filter, nor is an end before its beginning: it stays in its field, with its mistake. */
function readDays(
  asked: Queries,
  organization: AskedList['organization'],
): {
  queries: Queries;
  form: FormState;
} {
  const queries = { ...asked };
  const typed: Record<string, string> = {};
  const errors: Record<string, string> = {};
  const leaveOut = (name: string, error: string) => {
    typed[name] = asked[name]![0]!;
    errors[name] = error;
    delete queries[name];
  };
  for (const name of dayFields) {
    if (queries[name] && !readInstants(queries[name][0]!))
      leaveOut(name, 'Enter a day, such as 2026-04-01.');
  }
  const { from, to } = rangeOf(parsePage(queries, organization));
  if (from && to && to <= from) leaveOut('date_to', 'This day is before the first one.');
  return { queries, form: { typed, errors } };
}

const dayFields = ['date_from', 'date_to'] as const;

type ListMeta = { page: number; limit: number; total: number };
