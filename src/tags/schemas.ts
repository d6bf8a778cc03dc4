import * as v from 'valibot';
import { Count, described, Id, Moment } from '../lib/paging/schemas.ts';

export const Tag = v.object({
  id: Id,
  name: v.string(),
  color: described(v.pipe(v.string(), v.regex(/^#[0-9A-Fa-f]{6}$/)), 'hex color, #RRGGBB'),
  created_at: Moment,
});

export const TagList = v.object({ data: v.array(Tag), meta: v.object({ total: Count }) });

const longestTagName = 200;

const Name = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(longestTagName, `must have at most ${longestTagName} characters`),
);
const Color = v.pipe(
  v.string('must be text'),
  v.regex(/^#[0-9A-Fa-f]{6}$/, 'must be a hex color such as #1F6FEB'),
);

export const NewTagInput = v.object({ name: Name, color: v.optional(Color) });
export const TagChangeInput = v.object({ name: v.optional(Name), color: v.optional(Color) });
