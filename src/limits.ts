import type { Part } from './lib/db/db.ts';

/** Sizes that several rooms hold to, in characters where nothing else is said. */

/** A name of a contact. Names of surveys, organizations, keys and tags are held to the same number by their tables. */
export const longestName = 200;

export const longestQuestion = 500;

export const longestComment = 5000;

/** A contact's properties, as JSON. */
export const largestPropertiesBytes = 16 * 1024;
export const deepestPropertiesLevels = 32;

/** Counted as readers and Postgres count them: an emoji is one character, not two. */
export const isLongerThan = (text: string, longest: number) =>
  text.length > longest && (text.length > 2 * longest || [...text].length > longest);

/** Of a note about a response. */
export const longestNote = 5_000;

/** On one response, which is read with all of them. */
export const mostTags = 50;
export const mostNotes = 200;

/** An organization's id, or the part of a statement that knows it. */
export type OrgId = string | Part;
