import { type Context, Hono } from 'hono';
import * as v from 'valibot';
import { recordExport } from '../audit/export.ts';
import { ContactName, ContactProperties, Email } from '../contacts/api.ts';
import { notFound } from '../errors.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { createReader, type ReplicaTools } from '../keys/read.ts';
import { messageIdOf } from '../letters/letter.ts';
import type { Db, Sql } from '../lib/db/db.ts';
import { csvDescription, ExportFormat, exportResponse, exportTypes } from '../lib/export/export.ts';
import { parseBody } from '../lib/http/body.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { readIfMatch } from '../lib/http/version.ts';
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
import { idParam, parse, parseQuery, parseWriteQuery, Uuid } from '../lib/validation/parse.ts';
import { LanguageTag } from '../surveys/schemas.ts';
import {
  changePerson,
  exportPeople,
  findPersonByEmail,
  listPeopleJson,
  versionOfPerson,
} from './directory.ts';
import { listErasures } from './erase.queries.ts';
import {
  allowErasedAddress,
  type EraseTools,
  type ErasureCounts,
  erasedKinds,
  erasePerson,
} from './erase.ts';
import { FilterInput, propertyPrefix } from './filter.ts';
import type { ErasureFile } from './receipts-file.ts';
import { getSegment } from './segments.ts';
import { historyEvents, readTimeline } from './timeline.ts';

export function peopleReads(tools: ReplicaTools) {
  const { answer } = createReader(tools);
  return new Hono<ApiEnv>().get('/', async (c) => {
    const { query, page } = await parsePeopleQuery(tools.db, c.var.key.org_id, c.req.queries());
    return await answer(c, 'list', (orgId) => listPeopleJson(tools.db, orgId, page, query));
  });
}

/** Reads the filters of a list: parameters, `property.NAME`, and the segment's own filter. */
export async function parsePeopleQuery(sql: Sql, orgId: string, queries: Record<string, string[]>) {
  const { search, language, segment, ignored, ...page } = parseList(PeopleQuery, queries);
  const properties = Object.entries(queries).filter(([name]) => name.startsWith(propertyPrefix));
  const own = [
    ...properties.flatMap(([field, values]) => values.map((value) => ({ field, op: 'is', value }))),
    ...(language ? [{ field: 'language', op: 'is', value: language }] : []),
  ];
  const nameOf = ({ path }: v.BaseIssue<unknown>) =>
    own[Number(path?.[1]?.key)]?.field ?? 'filters';
  const filter = parse(FilterInput, { all: own }, nameOf);
  const ofSegment = segment ? (await getSegment(sql, orgId, segment)).filter.all : [];
  const names = ignored.filter((name) => !name.startsWith(propertyPrefix));
  return {
    query: { search, filter: { all: [...ofSegment, ...filter.all] } },
    page: { ...page, ignored: names },
  };
}

export const peopleRoutes = (tools: EraseTools & ReplicaTools & { publicUrl: string }) =>
  new Hono<ApiEnv>()
    .get('/export', async (c) => {
      const { org_id: orgId } = c.var.key;
      const { format } = parseQuery(v.object({ format: ExportFormat }), c.req.queries());
      const { query } = await parsePeopleQuery(tools.db, orgId, c.req.queries());
      await recordExport(tools.db, { orgId, actor: c.var.actor }, 'people.exported');
      const parts = exportPeople(tools, orgId, { ...query, format });
      return exportResponse(format, { name: 'people', parts });
    })
    .all('/export', (c) => c.notFound()) // keeps `/:email` from matching, so that a 405 lists the right methods

    .get('/:email', async (c) => {
      const email = c.req.param('email');
      const { org_id: orgId } = c.var.key;
      const [person, timeline] = await Promise.all([
        findPersonByEmail(tools.db, orgId, email),
        readTimeline(tools.db, orgId, email),
      ]);
      if (!person && timeline.length === 0) throw notFound('person');
      const events = timeline.map(({ mail_id, ...event }) => {
        return { ...event, message_id: mail_id && messageIdOf(mail_id, tools.publicUrl) };
      });
      const { name = null, properties = {}, language = null } = person ?? {};
      const { created_at = null, updated_at = null } = person ?? {};
      const record = { name, properties, language, created_at, updated_at };
      const data = { email, ...record, events };
      return await answerRead(c, JSON.stringify({ data }), versionOfPerson(record));
    })

    .put('/:email', async (c) => await answerChange(c, tools, 'put'))
    .patch('/:email', async (c) => await answerChange(c, tools, 'patch'))

    .delete('/:email', async (c) => {
      const by = requireWrite(c.var.key);
      const { scores } = parseWriteQuery(EraseQuery, c.req.queries());
      const request = { email: c.req.param('email'), scores: scoresByOption[scores] };
      return c.json({ data: await erasePerson(tools, by, request) });
    });

async function answerChange(c: Context<ApiEnv>, { db }: { db: Db }, how: 'put' | 'patch') {
  const by = requireWrite(c.var.key);
  const { email } = parse(v.object({ email: Email }), { email: c.req.param('email') });
  const input = await parseBody(c, PersonChange, { optional: how === 'put' });
  const ifMatch = readIfMatch(c);
  return c.json({ data: await changePerson({ db }, by, { email, how, input, ifMatch }) });
}

const scoresByOption = { keep: 'kept', delete: 'deleted' } as const;

const address = { email: { about: 'email address, percent-encoded', schema: { type: 'string' } } };

const PeopleQuery = v.object({
  ...Page.entries,
  search: described(
    v.optional(v.pipe(v.string(), v.trim(), v.maxLength(254, 'is too long')), ''),
    'limit to people with this text in their email or name (case-insensitive)',
  ),
  language: described(
    v.optional(v.pipe(v.string(), v.maxLength(35, 'is too long'))),
    'limit to people with this language',
  ),
  segment: described(v.optional(Uuid), 'limit to people of this segment'),
});

/** Undefined fields keep their value, and null clears it. */
export const PersonChange = v.object({
  name: v.optional(v.nullable(ContactName)),
  properties: described(
    v.optional(ContactProperties),
    'custom fields; PUT replaces all of them, PATCH merges them',
  ),
  language: described(
    v.optional(v.nullable(LanguageTag)),
    'language of emails and pages; defaults to the property `language`',
  ),
});

export const PersonItem = v.object({
  id: Id,
  email: v.string(),
  name: v.nullable(v.string()),
  properties: v.record(v.string(), v.unknown()),
  language: v.nullable(v.string()),
  created_at: Moment,
  updated_at: Moment,
});

const Person = v.object({
  ...v.omit(PersonItem, ['id']).entries,
  created_at: described(v.nullable(Moment), 'null for a person who is not in the directory'),
  updated_at: v.nullable(Moment),
  events: v.array(
    v.object({
      at: Moment,
      what: described(
        v.picklist([...historyEvents, 'delivered', 'not_delivered']),
        'more values may be added',
      ),
      survey_id: v.nullable(Id),
      survey_name: v.nullable(v.string()),
      round: described(
        v.nullable(Count),
        'round of the contact, from 1; null for blocked emails and events of the address',
      ),
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

export type PersonChange = v.InferOutput<typeof PersonChange>;

const counts = Object.entries(erasedKinds).map(([kind, [, about]]) => [
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
  about:
    'A person is one email address across all surveys of the organization. The directory has the latest name and ' +
    'properties of each, from contacts, imports and this API.',
  schemas: { Person, PersonItem, Erasure },
  bodies: { PersonChange },
  operations: {
    'get /api/v1/people': {
      id: 'listPeople',
      summary: 'List people, newest first',
      about: 'Use `property.NAME=VALUE` to limit the list to people with this value of a property.',
      query: PeopleQuery,
      answer: { about: 'a page of people', schema: List(PersonItem) },
      notFound: 'segment',
    },
    'get /api/v1/people/export': {
      id: 'exportPeople',
      summary: 'Export people as a file',
      about: `All people, newest first. Takes the filters of the list. ${csvDescription}`,
      query: v.object({ format: ExportFormat }),
      answer: { about: 'the file, streamed', files: exportTypes },
    },
    'put /api/v1/people/{email}': {
      id: 'putPerson',
      parameters: address,
      summary: 'Add or change a person',
      about:
        'Replaces the properties. Fields that are missing keep their value. Existing contacts do not change: the next ' +
        'audience or round uses the new values.',
      ifMatch: true,
      body: PersonChange,
      bodyOptional: true,
      answer: { about: 'the person', schema: One(PersonItem) },
      refusals: { 409: ['erased'] },
    },
    'patch /api/v1/people/{email}': {
      id: 'patchPerson',
      parameters: address,
      summary: 'Merge values into a person',
      about: 'Properties that are missing keep their value.',
      ifMatch: true,
      body: PersonChange,
      answer: { about: 'the person', schema: One(PersonItem) },
      notFound: 'person',
    },
    'get /api/v1/people/{email}': {
      id: 'getPerson',
      parameters: address,
      summary: 'Get a person and their history',
      about:
        'The name and properties of the directory, and everything that happened to an address, oldest first: when it was added, emailed, or blocked and by which rule, ' +
        'what it opened and answered, deliveries to webhooks, unsubscribes and bounces.',
      answer: { about: 'the history', schema: One(Person) },
      notFound: 'person',
    },
    'delete /api/v1/people/{email}': {
      id: 'erasePerson',
      parameters: address,
      summary: 'Erase a person',
      about:
        'Permanently deletes the contacts of an address with their emails, comments and everything derived from them. ' +
        'Scores stay as anonymous responses by default. From then on the address is rejected or skipped everywhere, with ' +
        'the code `erased`. Erasing again returns the same receipt.',
      query: EraseQuery,
      answer: { about: 'the receipt', schema: One(Erasure) },
      notFound: 'person',
    },
    'get /api/v1/erasures': {
      id: 'listErasures',
      summary: 'List erasure receipts, newest first',
      about:
        'Receipts contain only a keyed hash of the address. Use `email` to find the receipts of an address.',
      query: ErasureQuery,
      answer: { about: 'a page of receipts', schema: List(Erasure) },
    },
    'post /api/v1/erasures/{id}/allow': {
      id: 'allowErased',
      summary: 'Unblock the address of an erased person',
      about: 'The address can be added and emailed again. Erased data stays erased. Idempotent.',
      answer: { about: 'the receipt', schema: One(Erasure) },
    },
  },
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
