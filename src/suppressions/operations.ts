import type { Operation } from '../lib/openapi/section.ts';
import { List, One } from '../lib/paging/schemas.ts';
import { BounceAnswer, Suppression, SuppressionQuery } from './schemas.ts';

/** Named schemas of the API document. */
export const suppressionSchemas = { Suppression, Bounce: BounceAnswer };

export const suppressionOperations: readonly Operation[] = [
  {
    id: 'listSuppressions',
    method: 'get',
    path: '/api/v1/suppressions',
    summary: 'List the addresses that get no mail of yours, newest first',
    about: 'Addresses that unsubscribed, and mailboxes that do not exist.',
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
      'For a contact who asked to be subscribed again, or a mailbox that exists after all. Other rules that ' +
      'block mail to the address stay in force.',
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
