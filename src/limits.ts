import type { Part } from './lib/db/db.ts';

/** A name of a contact. Names of surveys, organizations, keys and tags are held to the same number by their tables. */
export const maxNameLength = 200;

export const maxQuestionLength = 500;

export const maxCommentLength = 5000;

/** A contact's properties, as JSON. */
export const maxPropertiesBytes = 16 * 1024;
export const maxPropertiesDepth = 32;

/** Counted as readers and Postgres count them: an emoji is one character, not two. */
export const isLongerThan = (text: string, longest: number) =>
  text.length > longest && (text.length > 2 * longest || [...text].length > longest);

export const maxNoteLength = 5_000;

export const maxTags = 50;
export const maxNotes = 200;

/** An organization's id, or the part of a statement that knows it. */
export type OrgId = string | Part;
