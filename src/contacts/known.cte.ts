import type { Sql } from '../lib/db/db.ts';

/**
 * The names and addresses that redaction takes out of a comment, as columns of a select: those of the
 * organization `o`, the sender of the survey `s` and, unless the answer is anonymous, the contact `c`.
 */
export const knownPeople = (sql: Sql, giver: 'contact' | 'anonymous') =>
  giver === 'contact'
    ? sql`
      array_remove(o.people || array[c.name, s.from_name], null) as known_names,
      array_remove(array[c.email, s.from_email, s.reply_to, o.contact_email], null) as known_addresses`
    : sql`
      array_remove(o.people || s.from_name, null) as known_names,
      array_remove(array[s.from_email, s.reply_to, o.contact_email], null) as known_addresses`;

export type KnownPeople = { known_names: string[]; known_addresses: string[] };
