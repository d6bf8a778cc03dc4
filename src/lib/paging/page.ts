import * as v from 'valibot';
import type { Sql } from '../db/db.ts';
import { parse } from '../validation/parse.ts';

const defaultLimit = 50;
const maximumLimit = 200;

const whole = v.pipe(
  v.string(),
  v.regex(/^[0-9]{1,9}$/, 'must be a positive whole number'),
  v.toNumber(),
  v.minValue(1, 'must be a positive whole number'),
);

/** `page` and `limit` of a list; a limit above the maximum counts as the maximum. */
export const Page = v.object({
  page: v.optional(whole, '1'),
  limit: v.optional(
    v.pipe(
      whole,
      v.transform((limit) => Math.min(limit, maximumLimit)),
    ),
    String(defaultLimit),
  ),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const position = decodeCursor(dataset.value);
        if (position) return position;
        addIssue({ message: 'is not a cursor that this service gave out' });
        return NEVER;
      }),
    ),
  ),
});

export type Page = v.InferOutput<typeof Page>;

/** Where a list goes on: after the row with this time and id. The time keeps its microseconds, as text. */
export type Position = { at: string; id: string };

/**
 * The condition that leaves only what follows a position in a list, newest first. The time goes over as
 * text: as a timestamp the driver would cut it to milliseconds, and rows in between would be lost.
 */
export const following = (sql: Sql, position: Position | undefined) =>
  position
    ? sql`and (created_at, id) < (${position.at}::text::timestamptz, ${position.id}::uuid)`
    : sql``;

export const encodeCursor = ({ at, id }: Position) =>
  Buffer.from(`${at} ${id}`).toString('base64url');

function decodeCursor(cursor: string): Position | undefined {
  const [, at, id] = cursorForm.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return at && id && isReal(at) ? { at, id } : undefined;
}

/** The 30th of February has the form of a time too. */
function isReal(at: string): boolean {
  const time = new Date(at);
  return (
    at > '0001' && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(at.slice(0, 23))
  );
}

const cursorForm =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const parsePage = (query: unknown): Page => parse(Page, query);
