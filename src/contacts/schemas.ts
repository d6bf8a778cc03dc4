import * as v from 'valibot';
import { described, Id, Moment } from '../lib/paging/list-answer.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { complainOfProperties, hasControlCharacters } from './rules.ts';

const longestName = 200;

export const Email = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isMailable, 'is not an email address'),
  v.transform((text) => normalizeEmail(text) ?? text),
);

export const PersonName = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check((name) => !hasControlCharacters(name), 'must not contain control characters'),
  v.maxLength(longestName, `must be at most ${longestName} characters`),
);

export const Properties = v.pipe(
  v.custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  ),
  v.metadata({ type: 'object' }),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed && complainOfProperties(dataset.value);
    if (message) addIssue({ message });
  }),
);

export const ContactInput = v.object({
  email: Email,
  survey_id: described(Uuid, 'a survey of the organization'),
  name: v.nullish(PersonName, null),
  properties: described(
    v.nullish(Properties, {}),
    'custom fields; merged into those the contact has',
  ),
});

const status = v.picklist([
  'pending',
  'sending',
  'sent',
  'responded',
  'failed',
  'bounced',
  'unsubscribed',
]);

export const ContactItem = v.object({
  id: Id,
  email: v.string(),
  name: v.nullable(v.string()),
  status,
  failure_reason: described(v.nullable(v.string()), 'why the last attempt to mail failed'),
  sent_at: described(v.nullable(Moment), 'null until sent'),
  responded_at: described(v.nullable(Moment), 'null until responded'),
  survey_id: Id,
  survey_name: v.string(),
});

export const Contact = v.object({
  id: Id,
  email: v.string(),
  name: v.nullable(v.string()),
  status,
  created_at: Moment,
});
