import * as v from 'valibot';
import { Refusal } from '../../errors.ts';

/** Checks input from outside. The first thing wrong with it is what the caller is told. */
export function parse<const S extends v.GenericSchema>(
  schema: S,
  input: unknown,
): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  throw new Refusal('invalid', complaint(result.issues[0]));
}

/** One sentence that names the value. valibot's own words for a missing key are not for callers. */
export function complaint(issue: v.BaseIssue<unknown>): string {
  const where = v.getDotPath(issue) ?? 'the body';
  return issue.received === 'undefined' ? `${where} is required` : `${where}: ${issue.message}`;
}

export const Uuid = v.pipe(v.string(), v.uuid('must be a UUID'));

export const isUuid = (text: string) => v.is(Uuid, text);
