// Lists by page or cursor: parameters, and the SQL that makes one page with its totals.

import * as v from 'valibot';
import { parseQuery } from '../validation/parse.ts';

const defaultLimit = 50;
const maximumLimit = 200;

/** No list is as long as this many pages: what is larger counts as this, and an offset still fits a bigint. */
const maximumPage = 999_999_999_999_999;

const whole = v.pipe(
  v.string(),
  v.regex(/^0*[1-9][0-9]*$/, 'must be a positive whole number'),
  v.transform((digits) => Math.min(Number(digits), maximumPage)),
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

/** `ignored` names the parameters that the list does not know. */
export type Page = v.InferOutput<typeof Page> & { ignored: readonly string[] };

/** Where a list goes on: after the row with this time and id. The time keeps its microseconds, as text. */
export type Position = { at: string; id: string };

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

type Queries = Record<string, string[]>;

/** The checked parameters of a list that has more of them than those of paging. */
export function parseList<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Queries,
): v.InferOutput<v.ObjectSchema<E, undefined>> & Pick<Page, 'ignored'> {
  return { ...parseQuery(schema, queries), ignored: unknownParameters(schema, queries) };
}

export const unknownParameters = (
  { entries }: v.ObjectSchema<v.ObjectEntries, undefined>,
  queries: Queries,
): string[] => Object.keys(queries).filter((name) => !Object.hasOwn(entries, name));

export const parsePage = (queries: Queries): Page => parseList(Page, queries);
