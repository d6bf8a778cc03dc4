import * as v from 'valibot';
import { Refusal } from '../errors.ts';
import { Email, Name, optional, Whole } from '../lib/cli/options.ts';
import { readTextFile } from '../lib/cli/read-file.ts';
import { parseJson } from '../lib/validation/json.ts';
import { parse } from '../lib/validation/parse.ts';

/** What a survey says and when it asks, as options of the commands that make and change one. */
export const textOptions = {
  'reply-to': optional(Email, 'E', "the address for replies (the sender's)"),
  subject: optional(Name, 'S', 'the subject of its mail (the question)'),
  language: optional(v.string(), 'TAG', 'the language of its texts (en)'),
  intro: optional(v.string(), 'TEXT', 'what its mail says before the question'),
  'follow-up': optional(v.string(), 'TEXT', 'the question above the comment'),
  thanks: optional(v.string(), 'TEXT', 'what its page says after an answer'),
  'ask-after-days': optional(
    Whole(0, 365),
    'N',
    'mail each contact so many days after it is added',
  ),
  fields: optional(
    v.string(),
    'FILE',
    'more as JSON, by the names of the API: texts, reminders, send_window, embed and others; - is standard input',
  ),
};

type GivenFields = {
  question?: string | undefined;
  draft?: boolean | undefined;
  fields?: string | undefined;
} & Readonly<Record<string, unknown>>;

/** The fields of a survey from a file and from options, which win, checked as the API checks them. */
export async function fieldsOf<const S extends v.GenericSchema>(given: GivenFields, schema: S) {
  const { org, id, question, fields, draft, ...rest } = given;
  const named = Object.entries({ ...rest, 'question-text': question })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name.replaceAll('-', '_'), value]);
  const status = draft ? { status: 'draft' } : {};
  return parse(schema, { ...(await readFields(fields)), ...Object.fromEntries(named), ...status });
}

async function readFields(file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  const { text, name } = await readTextFile(file);
  const value = parseJson(text, (where) => `${name} is not JSON${where}`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Refusal('invalid', `${name} must hold a JSON object`);
}
