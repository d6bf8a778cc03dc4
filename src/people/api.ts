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

const address = { email: { about: 'the address, percent-encoded', schema: { type: 'string' } } };

const steps = [
  'added',
  'claimed',
  'sending',
  'sent',
  'reminded',
  'failed',
  'unknown',
  'blocked',
  'opened',
  'answered',
  'answer_held',
  'delivered',
  'not_delivered',
  'unsubscribed',
  'bounced',
  'allowed',
] as const;

const Person = v.object({
  email: v.string(),
  events: v.array(
    v.object({
      at: Moment,
      what: described(v.picklist(steps), 'more may come'),
      survey_id: v.nullable(Id),
      survey_name: v.nullable(v.string()),
      reason_code: described(v.nullable(v.string()), 'the rule, or the kind of failure'),
      reason: described(v.nullable(v.string()), 'the same in words'),
      trace_id: v.nullable(v.string()),
      response_id: described(v.nullable(Id), 'of the answer'),
      webhook_id: described(v.nullable(Id), 'where an event of the answer was delivered'),
      delivery_id: v.nullable(Id),
      message_id: described(
        v.nullable(v.string()),
        'of the mail, as the mail server logs it: the `Message-ID` without its angle brackets',
      ),
      server_reply: described(
        v.nullable(v.string()),
        'what the mail server said when it took the mail, often with its queue id',
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
    'the keyed hash of the address: all that is left of it',
  ),
  counts: described(Counts, 'how much of each kind was deleted or emptied; more kinds may come'),
  scores: described(
    v.picklist(['kept', 'deleted']),
    '`kept`: as those of anonymous responses; `deleted`: with everything else',
  ),
  allowed_at: described(v.nullable(Moment), 'when the address was allowed again, if it was'),
});

const EraseQuery = v.object({
  scores: v.pipe(
    v.optional(v.picklist(['keep', 'delete'], 'must be keep or delete'), 'keep'),
    v.description('`delete` deletes the scores too; else they stay as anonymous responses'),
  ),
});

export const ErasureQuery = v.object({
  ...Page.entries,
  email: v.pipe(
    v.optional(v.pipe(v.string(), v.transform(addressKey))),
    v.description('only receipts of this address, whatever its case'),
  ),
});

export const peopleSection: ApiSection = {
  name: 'People',
  about: 'A person is one address over all surveys of the organization.',
  schemas: { Person, Erasure },
  operations: [
    {
      id: 'getPerson',
      method: 'get',
      path: '/api/v1/people/{email}',
      parameters: address,
      summary: 'Show what happened with an address',
      about:
        'Why it got a mail or none: when it was added, mailed or blocked and by which rule, what it opened and ' +
        'answered, where that was delivered, and whether it unsubscribed or bounced, and was allowed again. Oldest first.',
      permission: 'read',
      answer: { status: 200, about: 'all of it', schema: One(Person) },
      notFound: 'person',
    },
    {
      id: 'erasePerson',
      method: 'delete',
      path: '/api/v1/people/{email}',
      parameters: address,
      summary: 'Erase a person, for good',
      about:
        'Deletes the contacts of the address, their mails, comments and all that was made of them; scores stay as those ' +
        'of anonymous responses. The answer is the receipt. From then on the address is refused or left out wherever it ' +
        'comes again, with `erased` as the code. Erasing again answers with the same receipt.',
      permission: 'write',
      query: EraseQuery,
      answer: { status: 200, about: 'the receipt', schema: One(Erasure) },
      notFound: 'person',
    },
    {
      id: 'listErasures',
      method: 'get',
      path: '/api/v1/erasures',
      summary: 'List the receipts of erased persons, newest first',
      about: 'An address is known by its keyed hash alone: `email` finds the receipts of one.',
      permission: 'read',
      query: ErasureQuery,
      answer: { status: 200, about: 'a page of them', schema: List(Erasure) },
    },
    {
      id: 'allowErased',
      method: 'post',
      path: '/api/v1/erasures/{id}/allow',
      summary: 'Let the address of an erased person be added and mailed again',
      about:
        'For a person who asks for it. What was erased stays erased. Doing it again changes nothing.',
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
