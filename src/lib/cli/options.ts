import * as v from 'valibot';
import { isMailable } from '../smtp/address.ts';
import { isInCalendar } from '../validation/calendar.ts';
import { Uuid } from '../validation/parse.ts';
import { isPlainLine } from '../validation/plain-line.ts';
import type { Option, Options } from './command.ts';

/** Text of one line. Control characters are refused: it may end up in the header of a mail. */
export const Line = (longest: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.check((text) => [...text].length <= longest, `must be at most ${longest} characters`),
    v.check(isPlainLine, 'must be one line without control characters'),
  );

export const Name = Line(200);

export const Email = v.pipe(v.string(), v.trim(), v.check(isMailable, 'must be an email address'));

export const Color = v.pipe(
  v.string(),
  v.regex(/^#[0-9A-Fa-f]{6}$/, "must be a color such as '#2F6FED'"),
);

export const Whole = (minimum: number, maximum: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, 'must be a whole number'),
    v.toNumber(),
    v.minValue(minimum, `must be at least ${minimum}`),
    v.maxValue(maximum, `must be at most ${maximum}`),
  );

/** A day (its start, UTC) or a moment with its time zone: without one it would mean another hour elsewhere. */
export const Moment = v.pipe(
  v.string(),
  v.regex(momentForm(), 'must be an ISO 8601 time such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  v.check(isInCalendar, 'must be a time that exists'),
  v.transform((text) => new Date(text)),
);

/** The same, for a day of another time zone: it stays as it was written. */
export const DayOrMoment = v.pipe(
  v.string(),
  v.regex(momentForm(), 'must be an ISO 8601 time such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  v.check(isInCalendar, 'must be a time that exists'),
  v.transform((text) => (text.length === 10 ? { day: text } : { moment: new Date(text) })),
);

export const OneOf = <const W extends readonly string[]>(words: W) =>
  v.picklist(words, `must be one of ${words.join(', ')}`);

function momentForm() {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d))?$/;
}

/** An option with a value, one that may be left out, and a switch. */
export const option = <S extends v.GenericSchema>(schema: S, value: string, does: string) =>
  ({ schema, value, does }) satisfies Option;

export const optional = <S extends v.GenericSchema>(schema: S, value: string, does: string) =>
  ({ schema: v.optional(schema), value, does }) satisfies Option;

export const flag = (does: string) =>
  ({ schema: v.optional(v.boolean(), false), value: null, does }) satisfies Option;

export const id = (does: string) => option(Uuid, 'ID', does);

/** Of a command whose other id says enough: a row of another organization is then not found. */
export const optionalId = (does: string) => optional(Uuid, 'ID', does);

/** Options of a command that changes what is there: what is not given stays, and their help names no default. */
export const withoutDefaults = <const O extends Options>(options: O): O =>
  Object.fromEntries(
    Object.entries(options).map(([name, each]) => [
      name,
      { ...each, does: each.does.replace(/ \([^()]*\)$/, '') },
    ]),
  ) as unknown as O;
