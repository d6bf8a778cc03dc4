import type { Context } from 'hono';
import * as v from 'valibot';
import { hideFromPlanner, one, type Part, type Sql } from '../db/db.ts';
import { isInCalendar, parseQuery } from '../validation/parse.ts';

type PagedList = {
  /** CTEs that `rows` reads. */
  matched?: Part;
  /** A table and its conditions. */
  rows: Part;
  /** Columns of a wide table, including `created_at` and `id`. */
  columns?: Part;
  /** Joins with a picked row `p`. The last join is named `item` and has the columns of a list item. */
  item: Part;
  /** A cheaper expression for the JSON of an item. */
  json?: Part;
  /** A cheaper query for the length of the whole list. */
  total?: Part;
};

/**
 * The body of a page, newest first, as an expression. Postgres makes the cursor, because the driver would cut the time
 * to milliseconds.
 */
export const pagedJson = (sql: Sql, page: Page, list: PagedList): Part => sql`(
  with ${list.matched ? sql`${list.matched},` : sql``} ${pickPage(sql, list, page)},
  shown as (
    select p.created_at, p.id, ${list.json ?? sql`row_to_json(item)`}::text as item
    from picked p ${list.item}
  )
  select concat(
    '{"data":[', array_to_string((${inOrder(sql, sql`item`)})[:${page.limit}::int], ','),
    '],"meta":{"page":', ${page.page}::bigint,
    ',"limit":', ${page.limit}::int,
    ',"total":', (${list.total ?? sql`select count(*) from ${list.rows}`}),
    ',"next_cursor":',
    case when count(*) > ${page.limit}::int then concat('"', page_cursor(
      (${inOrder(sql, sql`created_at`)})[${page.limit}::int], (${inOrder(sql, sql`id`)})[${page.limit}::int]), '"')
    else 'null' end,
    ${ignoredJson(page)}::text,
    '}}')
  from shown
)`;

/** Postgres sorts once for all aggregates with the same order. */
const inOrder = (sql: Sql, value: Part) =>
  sql`array_agg(${value} order by created_at desc, id desc)`;

const ignoredJson = ({ ignored }: Page) =>
  ignored.length > 0 ? `,"ignored":${JSON.stringify(ignored)}` : '';

export const itemJson = (sql: Sql, { row, item }: { row: Part; item: Part }): Part => sql`(
  select '{"data":' || row_to_json(item)::text || '}' from (select * from ${row}) p ${item}
)`;

/**
 * The CTE `picked` has the rows of a page and one extra row, newest first, by cursor or by offset. An offset reads only
 * the index up to the first row of the page. The limit is a literal, the maximum page size plus one, so that Postgres
 * reuses one plan for all pages.
 */
function pickPage(sql: Sql, { rows, columns }: PagedList, page: Page): Part {
  return sql`picked as (
    select *
    from (
      select ${columns ?? sql`*`} from ${rows} ${page.cursor ? after(sql, page) : from(sql, rows, page)}
      order by created_at desc, id desc
      limit 201
    ) longest
    order by created_at desc, id desc
    limit ${hideFromPlanner(sql, sql`${page.limit + 1}::int`)}
  )`;
}

function from(sql: Sql, rows: Part, { page, limit }: Page) {
  if (page === 1) return sql``;
  return sql`and (created_at, id) <= (
    select created_at, id from ${rows}
    order by created_at desc, id desc
    limit 1 offset ${hideFromPlanner(sql, sql`${(page - 1) * limit}::bigint`)})`;
}

/** The time is text, because the driver would cut it to milliseconds and skip rows. */
const after = (sql: Sql, { cursor }: Page) =>
  cursor
    ? sql`and (created_at, id) < (${hideFromPlanner(sql, sql`${cursor.at}::text::timestamptz`)}, ${cursor.id}::uuid)`
    : sql``;

/** Responds with a body that Postgres built. */
export async function answerJson(c: Context, sql: Sql, body: Part): Promise<Response> {
  return c.body(await readText(sql, body), 200, { 'Content-Type': 'application/json' });
}

export const readList = <Item>(sql: Sql, list: Part) =>
  readJson<{ data: Item[]; meta: Record<'page' | 'limit' | 'total', number> }>(sql, list);

export async function readJson<T>(sql: Sql, text: Part): Promise<T> {
  return JSON.parse(await readText(sql, text)) as T;
}

export async function readText(sql: Sql, text: Part): Promise<string> {
  return one(await sql<{ json: string }[]>`select ${text} as json`).json;
}

export const defaultLimit = 50;
const maxLimit = 200;

/** Larger page numbers are clamped, so that the offset fits a bigint. */
const maxPage = 999_999_999_999_999;

const whole = v.pipe(
  v.string(),
  v.regex(/^0*[1-9][0-9]*$/, 'must be a positive whole number'),
  v.transform((digits) => Math.min(Number(digits), maxPage)),
);

const cursorForm =
  /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

export const Page = v.object({
  page: v.optional(whole, '1'),
  limit: v.optional(
    v.pipe(
      whole,
      v.transform((limit) => Math.min(limit, maxLimit)),
    ),
    String(defaultLimit),
  ),
  cursor: v.optional(
    v.pipe(
      v.string(),
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const position = decodeCursor(dataset.value);
        if (position) return position;
        addIssue({ message: 'is not a valid cursor' });
        return NEVER;
      }),
    ),
  ),
});

/** `ignored` names unknown parameters. */
export type Page = v.InferOutput<typeof Page> & { ignored: readonly string[] };

/** The last row of a page. The time is text to keep its microseconds. */
export type Position = { at: string; id: string };

function decodeCursor(cursor: string): Position | undefined {
  const [, at, id] = cursorForm.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return at && id && isInCalendar(at) ? { at, id } : undefined;
}

type Queries = Record<string, string[]>;

export function parseList<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Queries,
): v.InferOutput<v.ObjectSchema<E, undefined>> & Pick<Page, 'ignored'> {
  return { ...parseQuery(schema, queries), ignored: unknownParameters(schema, queries) };
}

const unknownParameters = (
  { entries }: v.ObjectSchema<v.ObjectEntries, undefined>,
  queries: Queries,
): string[] => Object.keys(queries).filter((name) => !Object.hasOwn(entries, name));

export const parsePage = (queries: Queries): Page => parseList(Page, queries);

export const Id = v.pipe(v.string(), v.uuid());
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const Moment = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  v.metadata({ format: 'date-time' }),
  v.description('ISO 8601, UTC, to the millisecond'),
);

export const described = <const S extends v.GenericSchema>(schema: S, words: string) =>
  v.pipe(schema, v.description(words));

const Meta = v.object({
  page: Count,
  limit: Count,
  total: Count,
  next_cursor: described(
    v.nullable(v.string()),
    'pass it as `cursor` to get the next page; null at the end of the list',
  ),
  ignored: described(v.optional(v.array(v.string())), 'unknown parameters of the request, if any'),
});

export const One = <const S extends v.GenericSchema>(item: S) => v.object({ data: item });
export const List = <const S extends v.GenericSchema>(item: S) =>
  v.object({ data: v.array(item), meta: Meta });
