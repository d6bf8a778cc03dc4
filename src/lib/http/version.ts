import { hash } from 'node:crypto';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';

/** The versions in `If-Match`; undefined accepts any version. */
export type IfMatch = readonly string[] | undefined;

/** Hashes the editable fields of a row, for its ETag and for a hidden field of its form. */
export const versionOf = <T extends object>(row: T, names: readonly (keyof T)[]) =>
  hash('sha1', JSON.stringify(names.map((name) => row[name])), 'base64url').slice(0, 12);

export const isOutdated = (error: unknown) =>
  error instanceof Refusal && error.kind === 'precondition_failed';

/** Optimistic locking: refuses a change that is based on another version. */
export function refuseOtherVersion(current: string, expected: IfMatch) {
  if (expected === undefined || expected.includes(current)) return;
  throw new Refusal(
    'precondition_failed',
    'this was changed after it was read: read it again, and send the change with its new ETag',
  );
}

/** Reads only the version at the start of each ETag: a new response to a survey changes its ETag, but not its version. */
export function readIfMatch(c: Context): IfMatch {
  const header = c.req.header('if-match')?.trim();
  if (header === undefined || header === '*') return undefined;
  return header.split(',').map((tag) => /^\s*(?:W\/)?"([^".]*)/.exec(tag)?.[1] ?? '');
}
