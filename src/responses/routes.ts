import { Hono, type MiddlewareHandler } from 'hono';
import { recordExport } from '../audit/export-act.ts';
import type { ApiEnv } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import type { ReplicaTools } from '../keys/replica-reads.ts';
import type { Db } from '../lib/db/db.ts';
import { answerExport } from '../lib/export/answer.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readText } from '../lib/paging/paged-json.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { exportResponses } from './export.ts';
import { ignoredParameters, parseFiltered } from './facet-parameters.ts';
import { NpsQuery, TrendQuery } from './nps.schemas.ts';
import { trendOf } from './nps.ts';
import { findResponse, listResponses } from './queries.ts';
import { filterOf, rangeOf, scopeOf } from './read-filter.ts';
import { type HeldTally, rollUp } from './rules.ts';
import { ResponseExportQuery, ResponseQuery } from './schemas.ts';
import { runSearch } from './search.ts';
import { countCategories } from './totals.queries.ts';
import { countTrend } from './trend.queries.ts';
import { type TrendRows, trendRows } from './trend.rules.ts';

export function responseReads(tools: ReaderTools) {
  const { db } = tools;
  const { answer, byQuery } = createReader(tools);
  const list = byQuery((orgId, queries) => {
    const page = parseFiltered(ResponseQuery, queries);
    return listResponses(db, orgId, { filter: filterOf(page), page });
  });
  return new Hono<ApiEnv>()
    .get('/', async (c, next) => {
      if (c.req.query('search')) return await next();
      return await answer(c, 'list', list(c));
    })

    .get('/export', passOn)

    .get('/:id', async (c, next) => {
      const id = c.req.param('id');
      if (id === 'export') return await next();
      return await answer(c, 'response', (orgId) =>
        isUuid(id) ? findResponse(db, orgId, id) : undefined,
      );
    });
}

/** To `responseExport`. A request is named after the first route that it fits. */
const passOn: MiddlewareHandler = async (_c, next) => await next();

/** A search may take long: it has a connection of its own, and ends with its caller. */
export const responseSearch = ({ db }: { db: Db }) =>
  new Hono<ApiEnv>().get('/', async (c) => {
    const page = parseFiltered(ResponseQuery, c.req.queries());
    const list = listResponses(db, c.var.key.org_id, { filter: filterOf(page), page });
    return await runSearch(db, c.req.raw.signal, (sql) => readText(sql, list)).then((json) =>
      answerRead(c, json),
    );
  });

/** Everything that matches, as a file. */
export const responseExport = (tools: ReplicaTools) =>
  new Hono<ApiEnv>().get('/export', async (c) => {
    const { format, ...query } = parseFiltered(ResponseExportQuery, c.req.queries());
    const wish = { filter: filterOf(query), format };
    const { org_id: orgId } = c.var.key;
    await recordExport(tools.db, { orgId, actor: c.var.actor }, 'responses.exported');
    return answerExport(format, { name: 'responses', parts: exportResponses(tools, orgId, wish) });
  });

export function npsReads(tools: ReaderTools) {
  const { read, byQuery } = createReader(tools);
  const total = byQuery((orgId, queries) => {
    const query = parseFiltered(NpsQuery, queries);
    return countCategories(tools.db, orgId, { ...scopeOf(query), range: rangeOf(query) });
  });
  return new Hono<ApiEnv>()
    .get('/', async (c) => {
      const ignored = ignoredParameters(NpsQuery, c.req.queries());
      const tally = await read(c, total(c));
      const meta = ignored.length > 0 ? { meta: { ignored } } : {};
      const data = rollUp(JSON.parse(tally ?? '') as HeldTally);
      return await answerRead(c, JSON.stringify({ data, ...meta }));
    })

    .get('/trend', async (c) => {
      let asked: { rows: TrendRows; meta: object } | undefined;
      const tallies = await read(c, (orgId) => {
        const { tz, interval, ignored, ...query } = parseFiltered(TrendQuery, c.req.queries());
        const { date_from: from = null, date_to: to = null } = query;
        const rows = trendRows({ interval, timeZone: tz, from, to }, new Date());
        const total = rows.starts.length;
        asked = { rows, meta: { interval, tz, total, ...(ignored.length > 0 && { ignored }) } };
        return countTrend(tools.db, orgId, { scope: scopeOf(query), rows });
      });
      const counted = JSON.parse(tallies ?? '') as HeldTally[];
      const { rows, meta } = asked!;
      return await answerRead(c, JSON.stringify({ data: trendOf(counted, rows), meta }));
    });
}
