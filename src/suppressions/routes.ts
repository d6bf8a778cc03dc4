import { Hono } from 'hono';
import { notFound, Refusal } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReaderTools } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { readRawBody } from '../lib/http/body.ts';
import { parseList } from '../lib/paging/page.ts';
import { isUuid } from '../lib/validation/parse.ts';
import { type BounceTools, takeBounce } from './bounces.ts';
import { listSuppressions } from './queries.ts';
import { SuppressionQuery } from './schemas.ts';
import { liftSuppression } from './unsubscribe.ts';

/** The addresses that get no mail of an organization. */
export function suppressionReads(tools: ReaderTools) {
  const { answer, byQuery } = createReader(tools);
  const list = byQuery((orgId, queries) =>
    listSuppressions(tools.db, orgId, parseList(SuppressionQuery, queries)),
  );
  return new Hono<ApiEnv>().get('/', (c) => answer(c, 'list', list(c)));
}

export const suppressionRoutes = (tools: { db: Db }) =>
  new Hono<ApiEnv>().delete('/:id', async (c) => {
    const key = requireWrite(c.var.key);
    const id = c.req.param('id');
    if (!isUuid(id)) throw notFound('suppression');
    await liftSuppression(tools, key, id);
    return c.body(null, 204);
  });

/** Where a mail server, or a program that reads its mailbox, hands in messages that came back. */
export const bounceRoutes = (tools: BounceTools) =>
  new Hono<ApiEnv>().post('/', async (c) => {
    const key = requireWrite(c.var.key);
    const body = await readRawBody(c);
    if (body.length === 0)
      throw new Refusal('invalid', 'the body must be the message that came back');
    return c.json({
      data: await takeBounce(tools, key, wholeMessage(c.req.header('Content-Type'), body)),
    });
  });

/** A multipart body without headers of its own has its type in the request's Content-Type. */
function wholeMessage(contentType = '', body: Uint8Array): Uint8Array {
  const isBare =
    /^multipart\//i.test(contentType) &&
    /^\s*--/.test(new TextDecoder('latin1').decode(body.slice(0, 100)));
  return isBare ? Buffer.concat([Buffer.from(`Content-Type: ${contentType}\r\n\r\n`), body]) : body;
}
