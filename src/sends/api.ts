import { Hono } from 'hono';
import * as v from 'valibot';
import { contactFieldNames } from '../contacts/rules.ts';
import { type ApiEnv, requireWrite } from '../keys/authenticate.ts';
import { parseBody } from '../lib/http/body.ts';
import type { ApiSection } from '../lib/openapi/openapi.ts';
import { Failure } from '../lib/openapi/operation.ts';
import { One } from '../lib/paging/page.ts';
import { BooleanParameter, idParam, parseWriteQuery, Uuid } from '../lib/validation/parse.ts';
import { suppressionOperations, suppressionSchemas } from '../suppressions/api.ts';
import { type ContactResult, dryRunSend, type SendTools, sendSurvey } from './send.ts';
import { requestTestMail, TestMail, TestMailInput } from './test-mail.ts';

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
      const data = dry_run
        ? await dryRunSend(tools, key, request)
        : await sendSurvey(tools, key, request);
      return c.json({ data: { ...data, results: data.results.map(explainResult(contacts)) } });
    })

    .post('/:id/test-mail', async (c) => {
      const key = requireWrite(c.var.key);
      const input = await parseBody(c, TestMailInput);
      const data = await requestTestMail(tools, key, { ...input, surveyId: idParam(c, 'survey') });
      return c.json({ data }, 202);
    });
}

const contactFields: readonly string[] = [...contactFieldNames, 'properties'];
const maxNames = 10;

/** Adds the index of an invalid contact and the fields that were ignored, so that clients find their mistake. */
const explainResult = (contacts: readonly unknown[]) => (result: ContactResult, index: number) => {
  const contact = contacts[index];
  const fields = typeof contact === 'object' && contact !== null ? Object.keys(contact) : [];
  const ignored = fields.filter((name) => !contactFields.includes(name)).slice(0, maxNames);
  return {
    ...result,
    ...(result.status === 'invalid' && { index }),
    ...(ignored.length > 0 && { ignored }),
  };
};

export const SendLimitExceeded = v.object({
  ...Failure.entries,
  code: v.literal('SEND_LIMIT_EXCEEDED'),
  current_limit: v.pipe(v.number(), v.integer(), v.description('mails a calendar month, UTC')),
  used: v.pipe(v.number(), v.integer(), v.description('of it, this month')),
  requested: v.pipe(v.number(), v.integer(), v.description('mails this request would have sent')),
});

export function sendSection({ maxContacts }: { maxContacts: number }): ApiSection {
  const body = SendBody(maxContacts);
  return {
    name: 'Sending',
    about: 'A survey is mailed to each address once, whatever happens.',
    schemas: { SendResult: SendAnswer, SendLimitExceeded, ...suppressionSchemas },
    bodies: { SendRequest: body, NewTestMail: TestMailInput },
    operations: [
      {
        id: 'sendSurvey',
        method: 'post',
        path: '/api/v1/surveys/{id}/send',
        summary: 'Send a survey to a list of contacts',
        about:
          'Answers when the outcome of every contact is known; nothing is left to poll for. A contact that was sent ' +
          'this survey already is a `duplicate` and is not mailed again: repeating a request is safe.',
        permission: 'write',
        query: SendQuery,
        body,
        answer: {
          status: 200,
          about: 'one result for every submitted contact, in their order',
          schema: v.object({ data: SendAnswer }),
        },
        refusals: { 400: ['survey_draft', 'survey_closed'], 403: ['SEND_LIMIT_EXCEEDED'] },
        refusalSchemas: { 403: v.union([Failure, SendLimitExceeded]) },
      },
      {
        id: 'sendTestMail',
        method: 'post',
        path: '/api/v1/surveys/{id}/test-mail',
        summary: "Send a survey's mail to one address, as a test",
        about:
          'The real mail with `[Test]` in its subject. It counts neither as a mail of the month nor as a contact, and ' +
          'its links show the form and record nothing. A draft can be tested. At most 20 an hour and organization.',
        permission: 'write',
        body: TestMailInput,
        answer: { status: 202, about: 'the test is on its way', schema: One(TestMail) },
        refusals: { 429: ['too_many_test_mails'] },
      },
      ...suppressionOperations,
    ],
  };
}

/** Documents a contact. The body is not checked, because one bad contact must not refuse the request. */
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
      v.minLength(1, 'must name at least one contact'),
      v.maxLength(maxContacts, `must name at most ${maxContacts} contacts`),
    ),
  });

const SendQuery = v.object({
  dry_run: v.pipe(
    v.optional(BooleanParameter),
    v.description('`true` judges the same way, and writes and sends nothing'),
  ),
});

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

const SendAnswer = v.object({
  survey_id: Uuid,
  contacts_queued: v.pipe(
    Count,
    v.description('Contact rows touched, created or reused; not a count of pending work.'),
  ),
  contacts: v.array(v.object({ id: Uuid, email: v.string(), token: v.string() })),
  results: v.array(
    v.object({
      email: v.string(),
      status: v.picklist(['sent', 'duplicate', 'invalid', 'failed']),
      reason: v.optional(
        v.pipe(v.string(), v.description('Present when the email did not go out.')),
      ),
      reason_code: v.optional(v.string()),
      index: v.optional(
        v.pipe(Count, v.description('Which contact of the request is invalid, counted from 0.')),
      ),
      ignored: v.optional(
        v.pipe(
          v.array(v.string()),
          v.description('Fields of this contact that are not known, such as misspelt ones.'),
        ),
      ),
    }),
  ),
  sent: Count,
  duplicates: Count,
  invalid: Count,
  failed: Count,
});
