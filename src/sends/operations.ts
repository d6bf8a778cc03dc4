import * as v from 'valibot';
import type { Operation, Room } from '../lib/openapi/openapi.ts';
import { Failure } from '../lib/openapi/parts.ts';
import { List, One } from '../lib/paging/list-answer.ts';
import { BounceAnswer, SendAnswer, SendBody, Suppression, SuppressionQuery } from './schemas.ts';

const Query = v.object({
  dry_run: v.pipe(
    v.optional(v.picklist(['true', 'false'])),
    v.description('`true` judges the same way, and writes and sends nothing'),
  ),
});

const SendLimitExceeded = v.object({
  ...Failure.entries,
  code: v.literal('SEND_LIMIT_EXCEEDED'),
  current_limit: v.pipe(v.number(), v.integer(), v.description('mails a calendar month, UTC')),
  used: v.pipe(v.number(), v.integer(), v.description('of it, this month')),
  requested: v.pipe(v.number(), v.integer(), v.description('mails this request would have sent')),
});

const suppressionOperations: readonly Operation[] = [
  {
    id: 'listSuppressions',
    method: 'get',
    path: '/api/v1/suppressions',
    summary: 'List the addresses that get no mail of yours, newest first',
    permission: 'read',
    query: SuppressionQuery,
    answer: { status: 200, about: 'a page of them', schema: List(Suppression) },
  },
  {
    id: 'liftSuppression',
    method: 'delete',
    path: '/api/v1/suppressions/{id}',
    summary: 'Let an address get mail again',
    about:
      'For who asked to be subscribed again, or for a mailbox that exists after all. What else keeps the ' +
      'address back stays.',
    permission: 'write',
    answer: { status: 204, about: 'the address may be mailed again' },
  },
  {
    id: 'takeBounce',
    method: 'post',
    path: '/api/bounces',
    summary: 'Hand in a message that came to the return address',
    about:
      'A delivery report or a complaint about a mail that was sent keeps its address from being mailed again. ' +
      'Every other message changes nothing, so all that comes in can be handed in.',
    permission: 'write',
    message: 'the message as it came, with its headers',
    answer: { status: 200, about: 'what it was taken for', schema: One(BounceAnswer) },
  },
];

export const sendRoom = ({ maxContacts }: { maxContacts: number }): Room => ({
  name: 'Sending',
  about: 'A survey is mailed to each address once, whatever happens.',
  schemas: { SendResult: SendAnswer, SendLimitExceeded, Suppression, Bounce: BounceAnswer },
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
      query: Query,
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
