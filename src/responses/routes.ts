import { Hono } from 'hono';
import type { ApiEnv, KeyTools } from '../keys/authenticate.ts';
import { createReader } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { parseList, unknownParameters } from '../lib/paging/page.ts';
import { answerJson } from '../lib/paging/paged-json.ts';
import { isUuid, parseQuery } from '../lib/validation/parse.ts';
import { NpsQuery, TrendQuery } from './nps.schemas.ts';
import { trendOf } from './nps.ts';
import { findResponse, listResponses, type ResponseFilter } from './queries.ts';
import { type HeldTally, likePattern, rollUp } from './rules.ts';
import { ResponseQuery } from './schemas.ts';
import { runSearch } from './search.ts';
import { countCategories, everything } from './totals.queries.ts';
import { countTrend } from './trend.queries.ts';
import { type TrendRows, trendRows } from './trend.rules.ts';

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
  return new Hono<ApiEnv>()
    .get('/', async (c) => {
      const ignored = unknownParameters(NpsQuery, c.req.queries());
      const tally = await read(c, (orgId) => {
        const { date_from, date_to, ...surveys } = parseQuery(NpsQuery, c.req.queries());
        const range = rangeOf({ date_from, date_to });
        return countCategories(tools.db, orgId, { ...scopeOf(surveys), range });
      });
      const meta = ignored.length > 0 ? { meta: { ignored } } : {};
      return c.json({ data: rollUp(JSON.parse(tally ?? '') as HeldTally), ...meta });
    })

    .get('/trend', async (c) => {
      let asked: { rows: TrendRows; meta: object } | undefined;
      const tallies = await read(c, (orgId) => {
        const { tz, interval, ignored, ...query } = parseList(TrendQuery, c.req.queries());
        const { date_from: from = null, date_to: to = null } = query;
        const rows = trendRows({ interval, timeZone: tz, from, to }, new Date());
        const total = rows.starts.length;
        asked = { rows, meta: { interval, tz, total, ...(ignored.length > 0 && { ignored }) } };
        return countTrend(tools.db, orgId, { scope: scopeOf(query), rows });
      });
      const counted = JSON.parse(tallies ?? '') as HeldTally[];
      return c.json({ data: trendOf(counted, asked!.rows), meta: asked!.meta });
    });
}

type SurveyScope = Pick<NpsQuery, 'survey_id' | 'type' | 'audience'>;
const scopeOf = ({ survey_id, type, audience }: SurveyScope) => ({
  ...everything,
  survey_id: survey_id ?? null,
  type: type ?? null,
  audience: audience ?? null,
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
