// Redaction: names, addresses and numbers are taken out of comments.

import { excerptBy, type PeopleToRedact, withoutKnown } from './known.ts';
import { withoutNames } from './names.ts';

/** The beginning of a comment, fit to be published: addresses, phone numbers and names replaced, then cut. */
export const redactedExcerpt = (comment: string, known: PeopleToRedact): Promise<string> =>
  excerptBy(withoutNames, comment, known);

/** The whole comment, redacted. */
export const redact = (comment: string, known: PeopleToRedact): Promise<string> =>
  withoutNames(withoutKnown(comment, known));
