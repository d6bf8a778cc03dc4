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

const StateField = v.optional(
  v.pipe(
    v.string(),
    v.transform(emptyIsNull),
    v.nullable(v.picklist(states, 'must be open or done')),
  ),
);
const OwnerField = v.optional(
  v.pipe(v.string(), v.maxLength(254, 'is too long'), v.transform(emptyIsNull)),
);

/**
 * The same from a form: a field that is there and empty takes away. A field that still says what the page showed is
 * no change: another member may have changed it since.
 */
export const FollowUpFields = v.pipe(
  v.object({
    state: StateField,
    owner: OwnerField,
    shown_state: StateField,
    shown_owner: OwnerField,
  }),
  v.transform(({ state, owner, shown_state, shown_owner }) => ({
    ...(state === shown_state ? {} : { state }),
    ...(owner === undefined || owner === shown_owner ? {} : { owner, fromOwner: shown_owner }),
  })),
);
