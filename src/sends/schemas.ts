import * as v from 'valibot';
import { Moment } from '../lib/paging/list-answer.ts';
import { Page } from '../lib/paging/page.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { Uuid } from '../lib/validation/parse.ts';

/** What a contact should be, for the document. */
const Submitted = v.pipe(
  v.unknown(),
  v.metadata({
    type: 'object',
    properties: {
      email: { type: 'string' },
      name: { type: 'string' },
      properties: { type: 'object', description: 'custom fields' },
    },
    required: ['email'],
  }),
);

/** Each contact is judged by itself later: one that is no object is one invalid result, not a 400. */
export const SendBody = (maxContacts: number) =>
  v.object({
    contacts: v.pipe(
      v.array(Submitted, 'must be a list of contacts'),
      v.minLength(1, 'must name at least one contact'),
      v.maxLength(maxContacts, `must name at most ${maxContacts} contacts`),
    ),
  });

const Count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const SendAnswer = v.object({
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
    }),
  ),
  sent: Count,
  duplicates: Count,
  invalid: Count,
  failed: Count,
});

const kinds = ['unsubscribed', 'bounced'] as const;

export const Suppression = v.object({
  id: Uuid,
  email: v.pipe(v.string(), v.description('in lower case')),
  kind: v.pipe(
    v.picklist(kinds),
    v.description('`unsubscribed`: the recipient asked so; `bounced`: the mailbox does not exist'),
  ),
  detail: v.pipe(v.nullable(v.string()), v.description('what the mail server said')),
  created_at: Moment,
});

export const SuppressionQuery = v.object({
  ...Page.entries,
  email: v.pipe(
    v.optional(v.pipe(v.string(), v.transform(addressKey))),
    v.description('only this address, whatever its case'),
  ),
  kind: v.optional(v.picklist(kinds, 'must be unsubscribed or bounced')),
});

export type SuppressionQuery = v.InferOutput<typeof SuppressionQuery>;

export const BounceAnswer = v.object({
  matched: v.pipe(v.boolean(), v.description('whether it is about a mail that was sent')),
  action: v.pipe(
    v.picklist(['bounced', 'unsubscribed', 'none']),
    v.description(
      'what became of the address: `none` for a delay, a full mailbox, a vacation reply',
    ),
  ),
});
