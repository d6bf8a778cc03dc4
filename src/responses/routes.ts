import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parseList } from '../lib/paging/page.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { isUuid, parseQuery } from '../lib/validation/parse.ts';
import { findResponse, listResponses, type ResponseFilter } from './queries.ts';
import { likePattern, rollUp } from './rules.ts';
import { NpsQuery, ResponseQuery } from './schemas.ts';
import { runSearch } from './search.ts';
import { countCategories } from './totals.queries.ts';

export const responseRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const page = parseList(ResponseQuery, c.req.queries());
      const filter = filterOf(page);
      const list = listResponses(db, c.var.key.org_id, { filter, page });
      if (filter.pattern === null) return answerJson(c, db, list);
      return runSearch(db, c.req.raw.signal, (sql) => answerJson(c, sql, list));
    })

    .get('/:id', async (c) => {
      const id = c.req.param('id');
      const response = isUuid(id) && (await findResponse(db, c.var.key.org_id, id));
      if (!response) throw notFound('response');
      return c.json({ data: response });
    });

export const npsRoutes = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>().get('/', async (c) => {
    const { survey_id, type, audience, ...dates } = parseQuery(NpsQuery, c.req.queries());
    const tally = await countCategories(db, c.var.key.org_id, {
      survey_id: survey_id ?? null,
      type: type ?? null,
      audience: audience ?? null,
      range: rangeOf(dates),
    });
    return c.json({ data: rollUp(tally) });
  });

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
