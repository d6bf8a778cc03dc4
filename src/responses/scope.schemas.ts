import * as v from 'valibot';
import { described } from '../lib/paging/schemas.ts';
import { Uuid } from '../lib/validation/parse.ts';
import { isTimeZone } from '../lib/validation/time-zone.ts';
import { surveyTypes } from '../scores.ts';
import { readInstants } from './range.ts';

export const oneOf = <const T extends readonly string[]>(words: T) =>
  v.picklist(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);

const dateForm = 'must be an ISO 8601 date or time, such as 2024-05-01 or 2024-05-01T09:30:00Z';

/** A date, or a time with or without its zone. */
const timePattern = String.raw`^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$`;

/** What the text of a filter covers: a day, or an instant. */
export const dateBound = v.pipe(
  v.string(),
  v.metadata({ pattern: timePattern, examples: ['2026-04-01'] }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const instants = readInstants(dataset.value);
    if (instants) return instants;
    addIssue({ message: dateForm });
    return NEVER;
  }),
);

export const TimeZone = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z]/, 'must be the name of a time zone, such as Europe/Berlin'),
  v.check(isTimeZone, 'must be the name of a time zone, such as Europe/Berlin'),
);

export const surveyScope = {
  survey_id: described(v.optional(Uuid), 'limit to one survey'),
};

/** Which surveys are meant by what they are. */
export const kindScope = {
  type: described(v.optional(oneOf(surveyTypes)), 'limit to surveys of this type'),
  audience: described(
    v.optional(oneOf(['employee', 'customer'])),
    'limit to surveys of employees, or to all others',
  ),
};

/** `property.NAME=value` comes in addition: a schema has no names of parameters that a caller makes up. */
export const facetScope = {
  tag: described(
    v.optional(v.array(Uuid)),
    'limit to answers with this tag; given several times, with all of them',
  ),
  sentiment: described(
    v.optional(oneOf(['positive', 'neutral', 'negative', 'mixed'])),
    'limit to answers with a comment of this sentiment',
  ),
};

export const aboutProperties =
  '`property.NAME=value` limits to answers of contacts whose property NAME is that text, or has that JSON text. ' +
  'It can be given several times.';

/** Which responses are meant, on lists and totals alike. */
export const responseScope = {
  ...surveyScope,
  date_from: described(
    v.optional(dateBound),
    'on or after this ISO 8601 time; a bare date is its start in `tz`',
  ),
  date_to: described(
    v.optional(dateBound),
    'on or before this ISO 8601 time; a bare date is its end in `tz`',
  ),
  tz: described(v.optional(TimeZone, 'UTC'), 'the time zone of bare dates, by its IANA name'),
};
