import { hash } from 'node:crypto';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';

/** The versions that a change may start from, as `If-Match` names them; undefined for any version. */
export type IfMatch = readonly string[] | undefined;

/** The version of what callers can change: a part of its ETag, and a hidden field of its form. */
export const versionOf = <T extends object>(row: T, names: readonly (keyof T)[]) =>
  hash('sha1', JSON.stringify(names.map((name) => row[name])), 'base64url').slice(0, 12);

/** True for the refusal of a change that starts from another version. */
export const isOutdated = (error: unknown) =>
  error instanceof Refusal && error.kind === 'precondition_failed';

/** Refuses a change that starts from another version: it would undo what somebody else has changed since. */
export function refuseOtherVersion(current: string, expected: IfMatch) {
  if (expected === undefined || expected.includes(current)) return;
  throw new Refusal(
    'precondition_failed',
    'this was changed after it was read: read it again, and send the change with its new ETag',
  );
}

/**
 * The versions in `If-Match`. Only they count: a survey that was answered since has another ETag and the same version.
 * ETags are weak, because an answer has one in every encoding.
 */
export function readIfMatch(c: Context): IfMatch {
  const header = c.req.header('if-match')?.trim();
  if (header === undefined || header === '*') return undefined;
  return header.split(',').map((tag) => /^\s*(?:W\/)?"([^".]*)/.exec(tag)?.[1] ?? '');
}
