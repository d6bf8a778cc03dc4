import * as v from 'valibot';
import { described } from '../lib/paging/schemas.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { longestNote, mostTags } from '../limits.ts';
import { states } from './schemas.ts';

export const FollowUpInput = v.object({
  state: described(
    v.optional(v.nullable(v.picklist(states, 'must be open, done or null'))),
    'null takes it out of the list of what is to be followed up',
  ),
  owner: described(
    v.optional(v.nullable(v.pipe(v.string('must be text'), v.maxLength(254, 'is too long')))),
    'the address of a member; null leaves it to everybody',
  ),
});

export const TagsInput = v.object({
  tags: described(
    v.pipe(
      v.array(Uuid, 'must be a list of ids'),
      v.maxLength(mostTags, `must be at most ${mostTags}`),
    ),
    'ids of all tags that the response has from now on',
  ),
});

export const NoteInput = v.object({
  text: v.pipe(
    v.string('must be text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(longestNote, `must have at most ${longestNote} characters`),
  ),
});

const emptyIsNull = (given: string) => given || null;

/** The same from a form: a field that is there and empty takes away. */
export const FollowUpFields = v.object({
  state: v.optional(
    v.pipe(
      v.string(),
      v.transform(emptyIsNull),
      v.nullable(v.picklist(states, 'must be open or done')),
    ),
  ),
  owner: v.optional(v.pipe(v.string(), v.maxLength(254, 'is too long'), v.transform(emptyIsNull))),
});
