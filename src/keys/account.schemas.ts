import * as v from 'valibot';
import { Count, described, Id, Moment } from '../lib/paging/schemas.ts';

export const KeyAccount = v.object({
  organization: v.object({ id: Id, name: v.string() }),
  key: v.object({
    id: Id,
    name: v.string(),
    permission: v.picklist(['read', 'write']),
    expires_at: described(v.nullable(Moment), 'null when it does not expire'),
  }),
  limits: v.object({ requests_per_minute: Count, mails_per_month: Count }),
  usage: v.object({ mails_this_month: Count }),
});

export const Usage = v.object({
  month: described(v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)), 'the calendar month, UTC'),
  mails_sent: described(Count, 'in this month'),
  mails_limit: Count,
  mails_remaining: Count,
  responses: described(Count, 'that count, in all'),
  contacts: described(Count, 'in all'),
});
