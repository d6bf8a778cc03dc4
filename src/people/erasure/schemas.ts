import * as v from 'valibot';
import { Page } from '../../lib/paging/page.ts';
import { Count, described, Id, Moment } from '../../lib/paging/schemas.ts';
import { addressKey } from '../../lib/smtp/address.ts';
import { type ErasureCounts, erasedKinds } from './counts.ts';

const counts = Object.entries(erasedKinds).map(([kind, about]) => [kind, described(Count, about)]);
const Counts = v.object(Object.fromEntries(counts) as Record<keyof ErasureCounts, typeof Count>);

export const Erasure = v.object({
  id: Id,
  erased_at: Moment,
  address_hash: described(
    v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    'the keyed hash of the address: all that is left of it',
  ),
  counts: described(Counts, 'how much of each kind was deleted or emptied; more kinds may come'),
  scores: described(
    v.picklist(['kept', 'deleted']),
    '`kept`: as those of anonymous responses; `deleted`: with everything else',
  ),
  allowed_at: described(v.nullable(Moment), 'when the address was allowed again, if it was'),
});

export const EraseQuery = v.object({
  scores: v.pipe(
    v.optional(v.picklist(['keep', 'delete'], 'must be keep or delete'), 'keep'),
    v.description('`delete` deletes the scores too; else they stay as anonymous responses'),
  ),
});

export const ErasureQuery = v.object({
  ...Page.entries,
  email: v.pipe(
    v.optional(v.pipe(v.string(), v.transform(addressKey))),
    v.description('only receipts of this address, whatever its case'),
  ),
});
