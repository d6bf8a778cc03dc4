import type { Part } from './lib/db/db.ts';

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

export const longestNote = 5_000;

export const mostTags = 50;
export const mostNotes = 200;

/** An organization's id, or the part of a statement that knows it. */
export type OrgId = string | Part;
