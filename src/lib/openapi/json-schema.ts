import { type JsonSchema, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';

/** What we read and write of JSON Schema (2020-12). A plain value: it is what the document shows. */
export type Schema = {
  $ref?: string;
  type?: string;
  title?: string;
  description?: string;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

export type Named = Readonly<Record<string, GenericSchema>>;
type Side = 'input' | 'output';

/** What JSON Schema has no words for is still checked; the description says it where it matters. */
const unspoken = ['check', 'raw_check', 'trim'];

/** The JSON Schema of what comes in, or of what goes out; schemas that have a name are referred to by it. */
export function jsonSchema(schema: GenericSchema, side: Side, named: Named): Schema {
  // Each conversion converts all that have a name; most of what is asked for, such as the form of errors, needs none.
  const name = Object.keys(named).find((each) => named[each] === schema);
  if (name !== undefined) return { $ref: addressOf(name) };
  const { $schema, $defs, ...converted } = toJsonSchema(schema, config(side, named));
  return plain(converted);
}

export const namedSchemas = (named: Named): Record<string, Schema> =>
  plain(toJsonSchemaDefs(named, config('output', named)));

const addressOf = (name: string) => `#/components/schemas/${name}`;

const config = (typeMode: Side, definitions: Named) =>
  ({
    target: 'draft-2020-12',
    typeMode,
    definitions,
    ignoreActions: unspoken,
    overrideRef: ({ referenceId }: { referenceId: string }) => addressOf(referenceId),
    // A check of our own: the schema's metadata says what it accepts.
    overrideSchema: ({
      valibotSchema: { type },
      jsonSchema: converted,
    }: Overridden): JsonSchema => {
      if (type === 'custom') return {};
      return typeof converted.const === 'string' ? { type: 'string', ...converted } : converted;
    },
  }) as const;

type Overridden = { valibotSchema: { type: string }; jsonSchema: JsonSchema };

/** An object as a default is left out: generators of clients cannot make it a value of their language. */
const plain = <T>(value: object): T =>
  JSON.parse(JSON.stringify(value), (key, part) =>
    key === 'default' && typeof part === 'object' ? undefined : part,
  ) as T;
