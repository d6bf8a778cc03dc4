import * as v from 'valibot';

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
  ignored: described(
    v.optional(v.array(v.string())),
    'parameters of the request that this list does not know, if there were any',
  ),
});

export const One = <const S extends v.GenericSchema>(item: S) => v.object({ data: item });
export const List = <const S extends v.GenericSchema>(item: S) =>
  v.object({ data: v.array(item), meta: Meta });
