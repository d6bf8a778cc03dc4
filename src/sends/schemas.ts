import * as v from 'valibot';
import { BooleanParameter, Uuid } from '../lib/validation/parse.ts';

/** What a contact should be, for the document. */
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

/** Each contact is judged by itself later: one that is no object is one invalid result, not a 400. */
export const SendBody = (maxContacts: number) =>
  v.object({
    contacts: v.pipe(
      v.array(Submitted, 'must be a list of contacts'),
      v.minLength(1, 'must name at least one contact'),
      v.maxLength(maxContacts, `must name at most ${maxContacts} contacts`),
    ),
  });

export const SendQuery = v.object({
  dry_run: v.pipe(
    v.optional(BooleanParameter),
    v.description('`true` judges the same way, and writes and sends nothing'),
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
