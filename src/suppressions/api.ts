import { Hono } from 'hono';
import * as v from 'valibot';
import { notFound, Refusal } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import type { Db } from '../lib/db/db.ts';
import { readRawBody } from '../lib/http/body.ts';
import type { Operations } from '../lib/openapi/openapi.ts';
import { List, Moment, One, Page, parseList } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { isUuid, Uuid } from '../lib/validation/parse.ts';
import { type BounceTools, takeBounce } from './bounces.ts';
import { listSuppressions } from './queries.ts';
import { liftSuppression } from './suppress.ts';

export function suppressionReads(tools: ReplicaTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/', (c) =>
    answer(c, 'list', (orgId) =>
      listSuppressions(tools.db, orgId, parseList(SuppressionQuery, c.req.queries())),
    ),
  );
}

export const suppressionRoutes = (tools: { db: Db }) =>
  new Hono<ApiEnv>().delete('/:id', async (c) => {
    const key = requireWrite(c.var.key);
    const id = c.req.param('id');
    if (!isUuid(id)) throw notFound('suppression');
    await liftSuppression(tools, key, id);
    return c.body(null, 204);
  });

/** Endpoint for mail servers, or programs that read a mailbox, to report returned messages. */
export const bounceRoutes = (tools: BounceTools) =>
  new Hono<ApiEnv>().post('/', async (c) => {
    const key = requireWrite(c.var.key);
    const body = await readRawBody(c);
    if (body.length === 0) throw new Refusal('invalid', 'the body must be the returned message');
    return c.json({ data: await takeBounce(tools, key, body) });
  });

export const suppressionKinds = ['unsubscribed', 'bounced'] as const;

const Suppression = v.object({
  id: Uuid,
  email: v.pipe(v.string(), v.description('in lower case')),
  kind: v.pipe(
    v.picklist(suppressionKinds),
    v.description(
      '`unsubscribed`: the recipient or a member asked for it; `bounced`: the mailbox does not exist',
    ),
  ),
  by_hand: v.pipe(v.boolean(), v.description('true if a member blocked the address')),
  detail: v.pipe(v.nullable(v.string()), v.description('reply of the mail server')),
  created_at: Moment,
});

const BounceAnswer = v.object({
  matched: v.pipe(v.boolean(), v.description('true if the message is about one of your emails')),
  action: v.pipe(
    v.picklist(['bounced', 'unsubscribed', 'none']),
    v.description(
      'new state of the address; `none` for a delay, a full mailbox or a vacation reply',
    ),
  ),
});

export const suppressionSchemas = { Suppression, Bounce: BounceAnswer };

export const SuppressionQuery = v.object({
  ...Page.entries,
  email: v.pipe(
    v.optional(v.pipe(v.string(), v.transform(addressKey))),
    v.description('only this address, case-insensitive'),
  ),
  kind: v.optional(v.picklist(suppressionKinds, 'must be unsubscribed or bounced')),
});

export const suppressionOperations: Operations = {
  'get /api/v1/suppressions': {
    id: 'listSuppressions',
    summary: 'List blocked addresses, newest first',
    about:
      'Addresses that unsubscribed, that a member blocked, or whose mailbox does not exist. They get no email from you.',
    query: SuppressionQuery,
    answer: { about: 'a page of blocked addresses', schema: List(Suppression) },
  },
  'delete /api/v1/suppressions/{id}': {
    id: 'liftSuppression',
    summary: 'Unblock an address',
    about:
      'For a mailbox that exists after all, or an address that a member blocked. Only the recipient can undo an ' +
      'unsubscribe. Other limits, such as frequency, still apply.',
    answer: { status: 204, about: 'unblocked' },
    refusals: { 403: ['own_unsubscribe'] },
  },
  'post /api/bounces': {
    id: 'takeBounce',
    summary: 'Report a bounce',
    about:
      'Post a message that came to the return address. A delivery report or complaint about one of your emails blocks ' +
      'its address. Other messages have no effect, so you can post everything that arrives.',
    message: 'the raw message with its headers',
    answer: { about: 'the result', schema: One(BounceAnswer) },
  },
};

export type SuppressionQuery = v.InferOutput<typeof SuppressionQuery>;
