import { Hono } from 'hono';
import type { ApiEnv, KeyTools } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseList } from '../lib/paging/page.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { isUuid, parseQuery } from '../lib/validation/parse.ts';
import type { Tally } from '../scores.ts';
import { findResponse, listResponses, type ResponseFilter } from './queries.ts';
import { likePattern, rollUp } from './rules.ts';
import { NpsQuery, ResponseQuery } from './schemas.ts';
import { runSearch } from './search.ts';
import { countCategories } from './totals.queries.ts';

export function responseReads(tools: KeyTools) {
  const { db } = tools;
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>()
    .get('/', async (c, next) => {
      if (c.req.query('search')) return await next();
      return await answer(c, 'list', (orgId) => {
        const page = parseList(ResponseQuery, c.req.queries());
        return listResponses(db, orgId, { filter: filterOf(page), page });
      });
    })

    .get('/:id', (c) =>
      answer(c, 'response', (orgId) => {
        const id = c.req.param('id');
        return isUuid(id) ? findResponse(db, orgId, id) : undefined;
      }),
    );
}

/** A search may take long: it has a connection of its own, and ends with its caller. */
export const responseSearch = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>().get('/', async (c) => {
    const page = parseList(ResponseQuery, c.req.queries());
    const list = listResponses(db, c.var.key.org_id, { filter: filterOf(page), page });
    return await runSearch(db, c.req.raw.signal, (sql) => answerJson(c, sql, list));
  });

export function npsReads(tools: KeyTools) {
  const { read } = createReader(tools);
  return new Hono<ApiEnv>().get('/', async (c) => {
    const tally = await read(c, (orgId) => {
      const { survey_id, type, audience, ...dates } = parseQuery(NpsQuery, c.req.queries());
      return countCategories(tools.db, orgId, {
        survey_id: survey_id ?? null,
        type: type ?? null,
        audience: audience ?? null,
        range: rangeOf(dates),
      });
    });
    return c.json({ data: rollUp(JSON.parse(tally ?? '') as Tally) });
  });
}

/** An empty search is no search: every answer has that part. */
const filterOf = ({
  survey_id,
  category,
  search,
  held,
  ...dates
}: ResponseQuery): ResponseFilter => ({
  survey_id: survey_id ?? null,
  category: category ?? null,
  pattern: search ? likePattern(search) : null,
  range: rangeOf(dates),
  held,
});

type Dates = { date_from?: Date | undefined; date_to?: Date | undefined };
const rangeOf = ({ date_from, date_to }: Dates) => ({
  from: date_from ?? null,
  to: date_to ?? null,
});
