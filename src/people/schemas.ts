import * as v from 'valibot';
import { described, Id, Moment } from '../lib/paging/schemas.ts';

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
] as const;

export const Person = v.object({
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
    }),
  ),
});
