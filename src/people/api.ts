import { Hono } from 'hono';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { messageIdOf } from '../letters/letter.ts';
import type { Db } from '../lib/db/db.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import {
  answerJson,
  Count,
  described,
  Id,
  List,
  Moment,
  One,
  Page,
  parseList,
} from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { idParam, parseWriteQuery } from '../lib/validation/parse.ts';
import { historyEvents } from '../sends/queries.ts';
import { listErasures } from './erase.queries.ts';
import {
  allowErasedAddress,
  type EraseTools,
  type ErasureCounts,
  erasedKindTexts,
  erasePerson,
} from './erase.ts';
import { readTimeline } from './people.ts';
import type { ErasureFile } from './receipts-file.ts';

export const peopleRoutes = (tools: EraseTools & { publicUrl: string }) =>
  new Hono<ApiEnv>()
    .get('/:email', async (c) => {
      const email = c.req.param('email');
      const timeline = await readTimeline(tools.db, c.var.key.org_id, email);
      if (timeline.length === 0) throw notFound('person');
      const events = timeline.map(({ mail_id, ...event }) => {
        return { ...event, message_id: mail_id && messageIdOf(mail_id, tools.publicUrl) };
      });
      return await answerRead(c, JSON.stringify({ data: { email, events } }));
    })

    .delete('/:email', async (c) => {
      const by = requireWrite(c.var.key);
      const { scores } = parseWriteQuery(EraseQuery, c.req.queries());
      const request = { email: c.req.param('email'), scores: scoresByOption[scores] };
      return c.json({ data: await erasePerson(tools, by, request) });
    });

const scoresByOption = { keep: 'kept', delete: 'deleted' } as const;

const address = { email: { about: 'email address, percent-encoded', schema: { type: 'string' } } };

const Person = v.object({
  email: v.string(),
  events: v.array(
    v.object({
      at: Moment,
      what: described(
        v.picklist([...historyEvents, 'delivered', 'not_delivered']),
        'more values may be added',
      ),
      survey_id: v.nullable(Id),
      survey_name: v.nullable(v.string()),
      reason_code: described(v.nullable(v.string()), 'the rule or kind of failure'),
      reason: described(v.nullable(v.string()), 'the reason as text'),
      trace_id: v.nullable(v.string()),
      response_id: described(v.nullable(Id), 'the response'),
      webhook_id: described(v.nullable(Id), 'the webhook that received an event of the response'),
      delivery_id: v.nullable(Id),
      message_id: described(
        v.nullable(v.string()),
        '`Message-ID` of the email without angle brackets, as the mail server logs it',
      ),
      server_reply: described(
        v.nullable(v.string()),
        'reply of the server that accepted the email, often with its queue id',
      ),
    }),
  ),
});

const counts = Object.entries(erasedKindTexts).map(([kind, about]) => [
  kind,
  described(Count, about),
]);
const Counts = v.object(Object.fromEntries(counts) as Record<keyof ErasureCounts, typeof Count>);

const Erasure = v.object({
  id: Id,
  erased_at: Moment,
  address_hash: described(
    v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    'keyed hash of the address, which is not stored otherwise',
  ),
  counts: described(Counts, 'deleted or cleared rows by kind; more kinds may be added'),
  scores: described(
    v.picklist(['kept', 'deleted']),
    '`kept`: in anonymous responses; `deleted`: with everything else',
  ),
  allowed_at: described(v.nullable(Moment), 'when the address was unblocked'),
});

const EraseQuery = v.object({
  scores: v.pipe(
    v.optional(v.picklist(['keep', 'delete'], 'must be keep or delete'), 'keep'),
    v.description('`delete` also deletes the scores; `keep` keeps them as anonymous responses'),
  ),
});

export const ErasureQuery = v.object({
  ...Page.entries,
  email: v.pipe(
    v.optional(v.pipe(v.string(), v.transform(addressKey))),
    v.description('only receipts of this address, case-insensitive'),
  ),
});

export const peopleSection: ApiSection = {
  name: 'People',
  about: 'A person is one email address across all surveys of the organization.',
  schemas: { Person, Erasure },
  operations: [
    {
      id: 'getPerson',
      method: 'get',
      path: '/api/v1/people/{email}',
      parameters: address,
      summary: 'Get the history of a person',
      about:
        'Everything that happened to an address, oldest first: when it was added, emailed, or blocked and by which rule, ' +
        'what it opened and answered, deliveries to webhooks, unsubscribes and bounces.',
      permission: 'read',
      answer: { status: 200, about: 'the history', schema: One(Person) },
      notFound: 'person',
    },
    {
      id: 'erasePerson',
      method: 'delete',
      path: '/api/v1/people/{email}',
      parameters: address,
      summary: 'Erase a person',
      about:
        'Permanently deletes the contacts of an address with their emails, comments and everything derived from them. ' +
        'Scores stay as anonymous responses by default. From then on the address is rejected or skipped everywhere, with ' +
        'the code `erased`. Erasing again returns the same receipt.',
      permission: 'write',
      query: EraseQuery,
      answer: { status: 200, about: 'the receipt', schema: One(Erasure) },
      notFound: 'person',
    },
    {
      id: 'listErasures',
      method: 'get',
      path: '/api/v1/erasures',
      summary: 'List erasure receipts, newest first',
      about:
        'Receipts contain only a keyed hash of the address. Use `email` to find the receipts of an address.',
      permission: 'read',
      query: ErasureQuery,
      answer: { status: 200, about: 'a page of receipts', schema: List(Erasure) },
    },
    {
      id: 'allowErased',
      method: 'post',
      path: '/api/v1/erasures/{id}/allow',
      summary: 'Unblock the address of an erased person',
      about: 'The address can be added and emailed again. Erased data stays erased. Idempotent.',
      permission: 'write',
      answer: { status: 200, about: 'the receipt', schema: One(Erasure) },
    },
  ],
};

type ErasureRouteTools = { db: Db; erasureFile: ErasureFile };

export const erasureRoutes = (tools: ErasureRouteTools) =>
  new Hono<ApiEnv>()
    .get('/', async (c) => {
      const query = parseList(ErasureQuery, c.req.queries());
      return await answerJson(c, tools.db, listErasures(tools.db, c.var.key.org_id, query));
    })

    .post('/:id/allow', async (c) => {
      const by = requireWrite(c.var.key);
      const id = idParam(c, 'erasure');
      return c.json({ data: await allowErasedAddress(tools, by, id) });
    });
