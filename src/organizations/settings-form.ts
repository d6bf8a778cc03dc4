import * as v from 'valibot';
import { Color, Email, Name, Whole } from '../lib/cli/options.ts';
import { optionalText, ticked } from '../web/app/read-form.ts';
import type { OrganizationChange } from './manage.ts';
import { mostDays, mostDaysOfLogs } from './retention.ts';
import { Language, Lines, Slug, TimeZone } from './schemas.ts';

const mostPeople = 200;

/** Names, one a line. */
const People = v.pipe(
  v.optional(v.string(), ''),
  v.transform((text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
  v.maxLength(mostPeople, `must be at most ${mostPeople} names`),
  v.array(Name),
);

/** A field for a file that was left empty is sent as a file without a name. */
const Picture = v.pipe(
  v.optional(v.union([v.instance(File), v.string()])),
  v.transform((given) => (given instanceof File && given.size > 0 ? given : null)),
);

export const GeneralSettings = v.object({
  name: Name,
  slug: Slug,
  color: Color,
  logo: Picture,
  remove_logo: ticked,
  contact_email: optionalText(Email),
  postal_address: v.optional(Lines, ''),
  language: Language,
  time_zone: TimeZone,
  frequency_days: optionalText(Whole(0, 3650)),
  people: People,
  keep_comments_days: optionalText(Whole(0, mostDays)),
  keep_contacts_days: optionalText(Whole(0, mostDays)),
  keep_openings_days: optionalText(Whole(0, mostDaysOfLogs)),
  keep_mails_days: optionalText(Whole(0, mostDays)),
  ai_enabled: ticked,
});

export const DefaultTexts = v.object({
  postal_address: v.optional(Lines, ''),
  mail_foot: v.optional(Lines, ''),
  language: Language,
});

/** What the form asks for. A new logo counts for more than the tick that removes the one so far. */
export async function changeFrom(
  form: v.InferOutput<typeof GeneralSettings>,
): Promise<OrganizationChange> {
  const { logo, remove_logo, ...change } = form;
  const file = logo ? new Uint8Array(await logo.arrayBuffer()) : null;
  return {
    ...change,
    frequency_days: form.frequency_days || null,
    keep_comments_days: form.keep_comments_days || null,
    keep_contacts_days: form.keep_contacts_days || null,
    keep_openings_days: form.keep_openings_days || null,
    keep_mails_days: form.keep_mails_days || null,
    ...(file && { logo: file }),
    ...(!file && remove_logo && { logo: null }),
  };
}
