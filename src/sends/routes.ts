import { Hono } from 'hono';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import type { Db } from '../lib/db/db.ts';
import { parseBody, readRawBody } from '../lib/http/http.ts';
import { answerList } from '../lib/paging/list-answer.ts';
import { isUuid, parse } from '../lib/validation/parse.ts';
import { type BounceTools, takeBounce } from '../suppressions/bounces.ts';
import { listSuppressions } from '../suppressions/queries.ts';
import { liftSuppression } from '../suppressions/unsubscribe.ts';
import { SendBody, SuppressionQuery } from './schemas.ts';
import { type SendTools, sendSurvey, trySend } from './send.ts';

type RouteTools = SendTools & { settings: { maxContacts: number } };

/** Mounted beside the surveys' own routes. */
export function sendRoutes(tools: RouteTools) {
  const Body = SendBody(tools.settings.maxContacts);
  return new Hono<ApiEnv>().post('/:id/send', async (c) => {
    const key = requireWrite(c.var.key);
    const surveyId = c.req.param('id');
    const { contacts } = await parseBody(c, Body);
    if (!isUuid(surveyId)) throw notFound('survey');

    const wish = { surveyId, contacts, traceparent: c.get('traceparent') ?? null };
    const dryRun = c.req.query('dry_run') === 'true';
    const data = dryRun ? await trySend(tools, key, wish) : await sendSurvey(tools, key, wish);
    return c.json({ data });
  });
}

/** The addresses that get no mail of an organization. */
export const suppressionRoutes = (tools: { db: Db }) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const query = parse(SuppressionQuery, c.req.query());
      return answerList(c, query, await listSuppressions(tools.db, c.var.key.org_id, query));
    })

    .delete('/:id', async (c) => {
      const key = requireWrite(c.var.key);
      const id = c.req.param('id');
      if (!isUuid(id)) throw notFound('suppression');
      await liftSuppression(tools, key, id);
      return c.body(null, 204);
    });

/** Where a mail server, or whoever reads its mailbox, hands in what came back. */
export const bounceRoutes = (tools: BounceTools) =>
  new Hono<ApiEnv>().post('/', async (c) => {
    const key = requireWrite(c.var.key);
    const body = await readRawBody(c);
    return c.json({
      data: await takeBounce(tools, key, wholeMessage(c.req.header('Content-Type'), body)),
    });
  });

/** Of a multipart body without headers the request's own Content-Type is the only one. */
function wholeMessage(contentType = '', body: Uint8Array): Uint8Array {
  const isBare =
    /^multipart\//i.test(contentType) &&
    /^\s*--/.test(new TextDecoder('latin1').decode(body.slice(0, 100)));
  return isBare ? Buffer.concat([Buffer.from(`Content-Type: ${contentType}\r\n\r\n`), body]) : body;
}
