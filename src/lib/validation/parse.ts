// Checks of input from outside: its complaints as one sentence.

import * as v from 'valibot';
import { Refusal } from '../../errors.ts';
import { oneLine } from './plain-line.ts';

/** So many mistakes are named at once; a list of a thousand bad items needs no thousand sentences. */
const mostComplaints = 5;

/** Checks input from outside. The caller sees every mistake in one sentence, the first of each field. */
export function parse<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  nameOf: NameOf = v.getDotPath,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw new Refusal('invalid', complaints(result.issues, nameOf));
}

type NameOf = (issue: v.BaseIssue<unknown>) => string | null;

function complaints(issues: readonly v.BaseIssue<unknown>[], nameOf: NameOf): string {
  const firsts = Map.groupBy(issues, (issue) => nameOf(issue) ?? '').values();
  const sentences = [...firsts].map(([first]) => named(first!, nameOf));
  const more = sentences.length - mostComplaints;
  return sentences.slice(0, mostComplaints).join('; ') + (more > 0 ? `; and ${more} more` : '');
}

const TrueOrFalse = v.picklist(['true', 'false'], 'must be true or false');

/** A boolean parameter of a query: `true` or `false`, and nothing that only looks like one of them. */
export const BooleanParameter = v.pipe(
  TrueOrFalse,
  v.transform((word) => word === 'true'),
);

/**
 * Checks the parameters of a query. A boolean that is given twice is refused, because either value could
 * be the intended one. A list has all values of its parameter; of any other parameter the first value counts.
 */
export function parseQuery<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Record<string, string[]>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  for (const [name, entry] of Object.entries(schema.entries)) {
    if ((queries[name]?.length ?? 0) > 1 && isBoolean(entry)) {
      throw new Refusal('invalid', `${name}: must be given once`);
    }
  }
  const given = Object.entries(queries).map(([name, values]) => [
    name,
    isList(schema.entries[name]) ? values : values[0],
  ]);
  return parse(schema, Object.fromEntries(given), parameterOf);
}

/** Callers write `tag=a&tag=b`, and know no `tag.1`. */
const parameterOf: NameOf = ({ path }) => String(path?.[0]?.key);

/**
 * Checks the parameters of a request that writes. Unknown ones are ignored, but for one that is all but the name of a
 * parameter: of `?dryrun=true` mails must not go out.
 */
export function parseWriteQuery<const E extends v.ObjectEntries>(
  schema: v.ObjectSchema<E, undefined>,
  queries: Record<string, string[]>,
): v.InferOutput<v.ObjectSchema<E, undefined>> {
  for (const [given, name] of parametersIn(schema, Object.keys(queries))) {
    if (name === given) continue;
    throw new Refusal('invalid', `${oneLine(given)} is no parameter here: write ${name}`);
  }
  return parseQuery(schema, queries);
}

export type QuerySchema = v.ObjectSchema<v.ObjectEntries, undefined>;

/** Refuses fields of a body that are parameters of its address: of `{"dry_run": true}` mails must not go out either. */
export function refuseParameters(schema: QuerySchema, fields: readonly string[]) {
  for (const [given, name] of parametersIn(schema, fields)) {
    throw new Refusal(
      'invalid',
      `${oneLine(given)} is no field here: write it in the address, as ?${name}=`,
    );
  }
}

/** The names that are, or all but are, those of parameters, each with the parameter. */
function parametersIn(
  schema: QuerySchema,
  names: readonly string[],
): [given: string, name: string][] {
  const known = new Map(Object.keys(schema.entries).map((name) => [lettersOf(name), name]));
  return names.flatMap((given) => {
    const name = known.get(lettersOf(given));
    return name === undefined ? [] : [[given, name]];
  });
}

const lettersOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const isBoolean = (schema: unknown) => innermost(schema) === TrueOrFalse;
const isList = (schema: unknown) =>
  schema !== undefined && (innermost(schema) as { type?: unknown }).type === 'array';

/** What a schema checks first, without what makes it optional or describes it. */
function innermost(schema: unknown): unknown {
  const { wrapped, pipe } = schema as { wrapped?: unknown; pipe?: unknown[] };
  if (pipe && pipe[0] !== schema) return innermost(pipe[0]);
  return wrapped === undefined ? schema : innermost(wrapped);
}

/** One sentence that names the value. */
export const complaint = (issue: v.BaseIssue<unknown>): string => named(issue, v.getDotPath);

/** valibot's own words for a missing key are not for callers. */
function named(issue: v.BaseIssue<unknown>, nameOf: NameOf): string {
  const where = nameOf(issue) ?? 'the body';
  return issue.received === 'undefined' ? `${where} is required` : `${where}: ${issue.message}`;
}

export const Uuid = v.pipe(v.string(), v.uuid('must be a UUID'));

export const isUuid = (text: string) => v.is(Uuid, text);
