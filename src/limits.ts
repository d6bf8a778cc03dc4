import type { Part } from './lib/db/db.ts';

/** The tables of surveys, organizations, keys and tags check the same limit. */
export const maxNameLength = 200;

export const maxQuestionLength = 500;

export const maxCommentLength = 5000;

export const maxPropertiesBytes = 16 * 1024;
export const maxPropertiesDepth = 32;

/** Counts like Postgres: an emoji is one character, not two. */
export const isLongerThan = (text: string, max: number) =>
  text.length > max && (text.length > 2 * max || [...text].length > max);

export const maxNoteLength = 5_000;

export const maxTagsOfResponse = 50;
export const maxNotes = 200;
export const maxReplies = 100;

/** Limits per organization, because these lists have no pages. Imports may exceed the number of tags. */
export const maxTags = 1_000;
export const maxCannedTexts = 100;
export const maxSegments = 500;
/** Every theme is searched for in every comment and sent to the provider. */
export const maxOwnThemes = 100;
export const maxWebhooks = 50;

/** Members are warned from this share of the organization's monthly emails. */
export const nearLimitPercent = 80;

/** The table checks the same limit. */
export const maxReplyLength = 5_000;

/** An organization's id, or a SQL fragment for it. */
export type OrgId = string | Part;
