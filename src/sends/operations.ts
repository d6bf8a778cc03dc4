import * as v from 'valibot';
import { Failure } from '../lib/openapi/parts.ts';
import type { ApiSection } from '../lib/openapi/section.ts';
import { suppressionOperations, suppressionSchemas } from '../suppressions/operations.ts';
import { SendAnswer, SendBody, SendQuery } from './schemas.ts';

export const SendLimitExceeded = v.object({
  ...Failure.entries,
  code: v.literal('SEND_LIMIT_EXCEEDED'),
  current_limit: v.pipe(v.number(), v.integer(), v.description('mails a calendar month, UTC')),
  used: v.pipe(v.number(), v.integer(), v.description('of it, this month')),
  requested: v.pipe(v.number(), v.integer(), v.description('mails this request would have sent')),
});

export const sendSection = ({ maxContacts }: { maxContacts: number }): ApiSection => ({
  name: 'Sending',
  about: 'A survey is mailed to each address once, whatever happens.',
  schemas: { SendResult: SendAnswer, SendLimitExceeded, ...suppressionSchemas },
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
      body: SendBody(maxContacts),
      answer: {
        status: 200,
        about: 'one result for every submitted contact, in their order',
        schema: v.object({ data: SendAnswer }),
      },
      refusals: {
        400: { about: 'contacts is missing or empty, or the survey is not open' },
        403: {
          about: 'the monthly send limit would be exceeded, and nothing was sent',
          schema: v.union([Failure, SendLimitExceeded]),
        },
      },
    },
    ...suppressionOperations,
  ],
});
