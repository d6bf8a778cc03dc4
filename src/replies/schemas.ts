import * as v from 'valibot';
import { described, Id, Moment } from '../lib/paging/page.ts';
import { Text } from '../lib/validation/parse.ts';
import { maxReplyLength } from '../limits.ts';

/** Also the text of a canned text. */
export const ReplyText = Text(maxReplyLength);

export const ReplyInput = v.object({ text: described(ReplyText, 'plain text of the email') });

export const Reply = v.object({
  id: Id,
  text: v.string(),
  author: described(v.string(), 'name of the member or API key'),
  status: described(
    v.picklist(['sending', 'sent', 'failed', 'unknown']),
    '`unknown`: it may have arrived, and is not sent again',
  ),
  reason: described(v.nullable(v.string()), 'why it was not sent, or not yet'),
  created_at: Moment,
  finished_at: v.nullable(Moment),
});
