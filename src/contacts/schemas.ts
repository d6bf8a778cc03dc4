import * as v from 'valibot';
import { ExportFormat } from '../lib/export/answer.ts';
import { described, Id, Moment } from '../lib/paging/schemas.ts';
import { isMailable, normalizeEmail } from '../lib/smtp/address.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { longestName } from '../limits.ts';
import { complainOfName, complainOfProperties, type Properties } from './rules.ts';

export const Email = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.check(isMailable, 'is not an email address'),
  v.metadata({ format: 'email' }),
  v.transform((text) => normalizeEmail(text) ?? text),
);

export const ContactName = v.pipe(
  v.string('must be text'),
  v.trim(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed && complainOfName(dataset.value);
    if (message) addIssue({ message });
  }),
  v.metadata({ maxLength: longestName }),
  v.transform((name) => name || null),
);

export const ContactProperties = v.pipe(
  v.custom<Properties>(() => true),
  v.metadata({ type: 'object', additionalProperties: true }),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = complainOfProperties(dataset.value);
    if (message) addIssue({ message });
  }),
);

export const ContactInput = v.object({
  email: Email,
  survey_id: described(Uuid, 'a survey of the organization'),
  name: v.nullish(ContactName, null),
  properties: described(
    v.nullish(ContactProperties, {}),
    'custom fields; merged into those the contact has',
  ),
});

export const ContactExportQuery = v.object({
  survey_id: described(v.optional(Uuid), 'limit to one survey'),
  format: ExportFormat,
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
