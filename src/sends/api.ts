import { Hono } from 'hono';
import * as v from 'valibot';
import { contactFields } from '../contacts/rules.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { inGroup } from '../lib/db/fair-pool.ts';
import { parseBody } from '../lib/http/body.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Failure } from '../lib/openapi/operation.ts';
import { Count, described, One } from '../lib/paging/page.ts';
import { BooleanParameter, idParam, parseWriteQuery, Uuid } from '../lib/validation/parse.ts';
import { suppressionOperations, suppressionSchemas } from '../suppressions/api.ts';
import { type ContactResult, dryRunSend, type SendTools, sendSurvey } from './send.ts';
import { requestTestMail, TestMail, TestMailInput } from './test-mail.ts';

/** Longer than for other requests, because the sends of an organization save their contacts one after the other. */
const sendWaitMs = 20_000;

type RouteTools = SendTools & { settings: { maxContacts: number } };

export function sendRoutes(tools: RouteTools) {
  const Body = SendBody(tools.settings.maxContacts);
  return new Hono<ApiEnv>()
    .post('/:id/send', async (c) => {
      const key = requireWrite(c.var.key);
      const { dry_run } = parseWriteQuery(SendQuery, c.req.queries());
      const { contacts } = await parseBody(c, Body, { parameters: SendQuery });
      const surveyId = idParam(c, 'survey');

      const request = { surveyId, contacts, traceparent: c.get('traceparent') ?? null };
      const data = await inGroup(
        key.orgId,
        () => (dry_run ? dryRunSend(tools, key, request) : sendSurvey(tools, key, request)),
        { kind: 'sends', waitMs: sendWaitMs },
      );
      return c.json({ data: { ...data, results: data.results.map(explainResult(contacts)) } });
    })

    .post('/:id/test-mail', async (c) => {
      const key = requireWrite(c.var.key);
      const input = await parseBody(c, TestMailInput);
      const data = await requestTestMail(tools, key, { ...input, surveyId: idParam(c, 'survey') });
      return c.json({ data }, 202);
    });
}

const knownFields: readonly string[] = contactFields;
const maxNames = 10;

/** Adds the index of an invalid contact and the fields that were ignored, so that clients find their mistake. */
const explainResult = (contacts: readonly unknown[]) => (result: ContactResult, index: number) => {
  const contact = contacts[index];
  const fields = typeof contact === 'object' && contact !== null ? Object.keys(contact) : [];
  const ignored = fields.filter((name) => !knownFields.includes(name)).slice(0, maxNames);
  return {
    ...result,
    ...(result.status === 'invalid' && { index }),
    ...(ignored.length > 0 && { ignored }),
  };
};

export const SendLimitExceeded = v.object({
  ...Failure.entries,
  code: v.literal('SEND_LIMIT_EXCEEDED'),
  current_limit: described(Count, 'emails per calendar month (UTC)'),
  used: described(Count, 'emails used this month'),
  requested: described(Count, 'emails that this request would have sent'),
});

export function sendSection({ maxContacts }: { maxContacts: number }): ApiSection {
  const body = SendBody(maxContacts);
  return {
    name: 'Sending',
    about: 'Sends surveys by email. Each address receives a survey at most once.',
    schemas: { SendResult: SendAnswer, SendLimitExceeded, ...suppressionSchemas },
    bodies: { SendRequest: body, NewTestMail: TestMailInput },
    operations: {
      'post /api/v1/surveys/{id}/send': {
        id: 'sendSurvey',
        summary: 'Send a survey to a list of contacts',
        about:
          'Returns when every contact has its final status, so there is nothing to poll. A contact that already received ' +
          'this survey is a `duplicate` and gets no second email: repeating a request is safe.',
        query: SendQuery,
        body,
        answer: {
          about: 'one result per submitted contact, in the same order',
          schema: v.object({ data: SendAnswer }),
        },
        refusals: { 400: ['survey_draft', 'survey_closed'], 403: ['SEND_LIMIT_EXCEEDED'] },
        refusalSchemas: { 403: v.union([Failure, SendLimitExceeded]) },
      },
      'post /api/v1/surveys/{id}/test-mail': {
        id: 'sendTestMail',
        summary: 'Send a test email',
        about:
          "Sends the survey's email to one address, with `[Test]` in its subject. It adds no contact and does not count " +
          'against the monthly limit, and its links record nothing. Works for drafts too. At most 20 per hour and organization.',
        body: TestMailInput,
        answer: { status: 202, about: 'the test email is queued', schema: One(TestMail) },
        refusals: { 429: ['too_many_test_mails'] },
      },
      ...suppressionOperations,
    },
  };
}

/** Documents a contact. The body is not checked, because one bad contact must not fail the whole request. */
const Submitted = v.pipe(
  v.unknown(),
  v.metadata({
    type: 'object',
    properties: {
      email: { type: 'string' },
      name: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      properties: {
        anyOf: [{ type: 'object', additionalProperties: true }, { type: 'null' }],
        description: 'custom fields',
      },
    },
    required: ['email'],
  }),
);

const SendBody = (maxContacts: number) =>
  v.object({
    contacts: v.pipe(
      v.array(Submitted, 'must be a list of contacts'),
      v.minLength(1, 'must contain at least one contact'),
      v.maxLength(maxContacts, `must contain at most ${maxContacts} contacts`),
    ),
  });

const SendQuery = v.object({
  dry_run: described(
    v.optional(BooleanParameter),
    '`true` evaluates the contacts the same way, but writes and sends nothing',
  ),
});

const SendAnswer = v.object({
  survey_id: Uuid,
  contacts_queued: described(Count, 'Contact rows created or reused; not a count of pending work.'),
  contacts: v.array(v.object({ id: Uuid, email: v.string(), token: v.string() })),
  results: v.array(
    v.object({
      email: v.string(),
      status: v.picklist(['sent', 'duplicate', 'invalid', 'failed']),
      reason: described(v.optional(v.string()), 'Present when no email was sent.'),
      reason_code: v.optional(v.string()),
      index: described(
        v.optional(Count),
        'Position of an invalid contact in the request, starting at 0.',
      ),
      ignored: described(
        v.optional(v.array(v.string())),
        'Unknown fields of this contact, such as misspelled ones.',
      ),
    }),
  ),
  sent: Count,
  duplicates: Count,
  invalid: Count,
  failed: Count,
});
