import type { Context } from 'hono';
import { one, opaque, type Part, type Sql } from '../db/db.ts';
import type { Page } from './page.ts';

type PagedList = {
  /** The rows of the page and one more: see `newest`. */
  picked: Part;
  /** Joins with a picked row `p`. The last is named `item` and has the columns of an item of the list. */
  item: Part;
  /** The text of an item as JSON, where that can be had for less than of all columns of `item`. */
  json?: Part;
  /** How long the whole list is, as a query of one value. */
  total: Part;
  page: Page;
};

/**
 * The body of a page of a list, newest first, as an expression: the one way in which lists are paged.
 * Its cursor is made by Postgres, because the driver would cut the time to milliseconds.
 */
export const pagedJson = (sql: Sql, { picked, item, json, total, page }: PagedList): Part => sql`(
  with ${picked},
  shown as (
    select p.created_at, p.id, ${json ?? sql`row_to_json(item)`}::text as item
    from picked p ${item}
  )
  select concat(
    '{"data":[', array_to_string((${inOrder(sql, sql`item`)})[:${page.limit}::int], ','),
    '],"meta":{"page":', ${page.page}::bigint,
    ',"limit":', ${page.limit}::int,
    ',"total":', (${total}),
    ',"next_cursor":',
    case when count(*) > ${page.limit}::int then concat('"', page_cursor(
      (${inOrder(sql, sql`created_at`)})[${page.limit}::int], (${inOrder(sql, sql`id`)})[${page.limit}::int]), '"')
    else 'null' end,
    ${ignoredJson(page)}::text,
    '}}')
  from shown
)`;

/** Postgres sorts once for all of them, and not at all where the rows come in this order. */
const inOrder = (sql: Sql, value: Part) =>
  sql`array_agg(${value} order by created_at desc, id desc)`;

const ignoredJson = ({ ignored }: Page) =>
  ignored.length > 0 ? `,"ignored":${JSON.stringify(ignored)}` : '';

/** The body of one item, as an expression: `item` is as in a list, and no row is null. */
export const oneJson = (sql: Sql, { row, item }: { row: Part; item: Part }): Part => sql`(
  select '{"data":' || row_to_json(item)::text || '}' from (select * from ${row}) p ${item}
)`;

/** From this many rows on it pays to look up the hour that a page begins on, instead of counting rows off. */
const deepOffset = 500;

type ListRows = {
  /** A table and its conditions. */
  rows: Part;
  /** What the items are made of, `created_at` and `id` included: each column of a wide table costs at each step. */
  columns?: Part;
  /** How many of these rows each hour has, as a query of `hour` and `rows`, where that is kept; an hour may have several. */
  perHour?: Part | undefined;
};

/**
 * The CTEs that pick the rows of a page and one more, newest first: by cursor, by offset, or from an hour on.
 * A limit in the text lets Postgres plan once for all pages; no page is longer than this one.
 */
export function newest(sql: Sql, list: ListRows, page: Page): Part {
  const offset = page.cursor ? 0 : (page.page - 1) * page.limit;
  if (list.perHour && offset >= deepOffset) {
    return newestFromHour(sql, { rows: list.rows, perHour: list.perHour }, { offset, page });
  }
  const skipped = offset === 0 ? sql`` : sql`offset ${opaque(sql, sql`${offset}::bigint`)}`;
  return sql`picked as (
    select *
    from (
      select ${list.columns ?? sql`*`} from ${list.rows} ${after(sql, page)}
      order by created_at desc, id desc
      limit 201 ${skipped}
    ) longest
    ${newestFirst(sql, page)}
  )`;
}

/** Finds the month that the page begins in, then the hour, then its row. A month is 31 days, whichever they are. */
const newestFromHour = (
  sql: Sql,
  { rows, perHour }: { rows: Part; perHour: Part },
  { offset, page }: { offset: number; page: Page },
) => sql`
  months as (
    select date_bin('31 days', hour, timestamptz '0001-01-01 00:00Z') as month, sum(rows)::int as rows
    from (${perHour}) as counted (hour, rows)
    group by 1
  ), first_month as materialized (
    select month, skipped - newer as skipped
    from (select month, rows, sum(rows) over (order by month desc) - rows as newer from months) added,
         (select ${offset}::bigint as skipped) wanted
    where newer <= skipped and skipped < newer + rows
  ), hours as (
    select hour, sum(rows)::int as rows
    from (${perHour}) as counted (hour, rows)
    where hour >= (select month from first_month) and hour < (select month + interval '31 days' from first_month)
    group by hour
  ), first_hour as materialized (
    select hour, skipped - newer as skipped
    from (select hour, rows, sum(rows) over (order by hour desc) - rows as newer from hours) added, first_month
    where newer <= skipped and skipped < newer + rows
  ), picked as (
    select *
    from (
      select *
      from ${rows} and created_at < (select hour + interval '1 hour' from first_hour)
      order by created_at desc, id desc
      limit 201 offset (select skipped from first_hour)
    ) longest
    ${newestFirst(sql, page)}
  )`;

const newestFirst = (sql: Sql, { limit }: Page) =>
  sql`order by created_at desc, id desc limit ${opaque(sql, sql`${limit + 1}::int`)}`;

/** As text: as a timestamp the driver would cut the time to milliseconds, and rows in between would be lost. */
const after = (sql: Sql, { cursor }: Page) =>
  cursor
    ? sql`and (created_at, id) < (${opaque(sql, sql`${cursor.at}::text::timestamptz`)}, ${cursor.id}::uuid)`
    : sql``;

/** Passes a body through that Postgres has made. */
export async function answerJson(c: Context, sql: Sql, body: Part): Promise<Response> {
  const { json } = one(await sql<{ json: string }[]>`select ${body} as json`);
  return c.body(json, 200, { 'Content-Type': 'application/json' });
}

/** The same list as values, for a caller that is not an API client. */
export const readList = <Item>(sql: Sql, list: Part) => readJson<{ data: Item[] }>(sql, list);

/** What an expression makes as JSON text, as a value. */
export async function readJson<T>(sql: Sql, text: Part): Promise<T> {
  return JSON.parse(await readText(sql, text)) as T;
}

export async function readText(sql: Sql, text: Part): Promise<string> {
  return one(await sql<{ json: string }[]>`select ${text} as json`).json;
}
