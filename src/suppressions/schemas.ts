import * as v from 'valibot';
import { Page } from '../lib/paging/page.ts';
import { Moment } from '../lib/paging/schemas.ts';
import { addressKey } from '../lib/smtp/address.ts';
import { Uuid } from '../lib/validation/parse.ts';

export const suppressionKinds = ['unsubscribed', 'bounced'] as const;

export const Suppression = v.object({
  id: Uuid,
  email: v.pipe(v.string(), v.description('in lower case')),
  kind: v.pipe(
    v.picklist(suppressionKinds),
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
  kind: v.optional(v.picklist(suppressionKinds, 'must be unsubscribed or bounced')),
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
