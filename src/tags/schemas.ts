import * as v from 'valibot';
import { Count, described, Id, Moment } from '../lib/paging/schemas.ts';

export const Tag = v.object({
  id: Id,
  name: v.string(),
  color: described(v.pipe(v.string(), v.regex(/^#[0-9A-Fa-f]{6}$/)), 'hex color, #RRGGBB'),
  created_at: Moment,
});

export const TagList = v.object({ data: v.array(Tag), meta: v.object({ total: Count }) });
