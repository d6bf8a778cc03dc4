import type { Context } from 'hono';
import * as v from 'valibot';
import { encodeCursor, type Page, type Position } from './page.ts';

/** What answers are made of, for the schemas that describe them. */
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

export const Meta = v.object({
  page: Count,
  limit: Count,
  total: Count,
  next_cursor: described(
    v.nullable(v.string()),
    'what `cursor` takes to go on after this page; null at the end of the list',
  ),
});

export const One = <const S extends v.GenericSchema>(item: S) => v.object({ data: item });
export const List = <const S extends v.GenericSchema>(item: S) =>
  v.object({ data: v.array(item), meta: Meta });

/** A page of a list as a query brings it: its items are JSON text already, and are passed through. */
export type Listed = { data: string; total: number; last: string | null; more: boolean };

/** `last` is the position of the page's last row, spelled `time id`, and `more` whether any follow. */
export function answerList(c: Context, { page, limit }: Page, { data, total, last, more }: Listed) {
  const next_cursor = more && last ? encodeCursor(positionOf(last)) : null;
  const meta = JSON.stringify({ page, limit, total, next_cursor });
  return c.body(`{"data":${data},"meta":${meta}}`, 200, { 'Content-Type': 'application/json' });
}

function positionOf(last: string): Position {
  const space = last.indexOf(' ');
  return { at: last.slice(0, space), id: last.slice(space + 1) };
}
