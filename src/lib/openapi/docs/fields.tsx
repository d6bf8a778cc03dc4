import type { Schema } from '../json-schema.ts';
import { resolve, type Schemas } from './resolve.ts';

const deepest = 5;

type Row = { path: string; words: string; required: boolean; about: string };

/** The fields of an object, also of those inside it, one a row under its whole path. */
export const Fields = ({ name, schema, schemas }: Shown) => (
  <Table name={name} rows={rowsOf(schema, schemas)} />
);

/** The same for an answer, where nothing is asked of the reader. */
export const AnswerFields = ({ name, schema, schemas }: Shown) => (
  <Table name={name} rows={rowsOf(schema, schemas).map((row) => ({ ...row, required: false }))} />
);

type Shown = { name: string; schema: Schema; schemas: Schemas };

export const Table = ({ name, rows }: { name: string; rows: readonly Row[] }) =>
  rows.length === 0 ? null : (
    // Wider than a narrow screen: it scrolls by itself, also by the keys.
    <section class="scroll" tabindex={0} aria-label={name}>
      <table>
        <tbody>
          {rows.map(({ path, words, required, about }) => (
            <tr>
              <th scope="row">
                <code>{path}</code>
                {required ? <span class="must"> required</span> : null}
              </th>
              <td class="kind">{words}</td>
              <td>{about}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );

export function rowsOf(schema: Schema, schemas: Schemas, prefix = ''): Row[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  if (prefix.split(/[.[]/).length > deepest) return [];
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = {
      path,
      words: wordsOf(field, schemas),
      required: required.includes(name),
      about: field.description ?? resolve(field, schemas).description ?? '',
    };
    const inner = innerOf(field, schemas);
    return [row, ...(inner ? rowsOf(inner.schema, schemas, `${path}${inner.joint}`) : [])];
  });
}

function innerOf(field: Schema, schemas: Schemas) {
  const [first] = choices(field, schemas);
  if (first?.type === 'object') return { schema: first, joint: '.' };
  const items = first?.type === 'array' && first.items && choices(first.items, schemas)[0];
  return items && items.type === 'object' ? { schema: items, joint: '[].' } : undefined;
}

function choices(field: Schema, schemas: Schemas): Schema[] {
  const resolved = resolve(field, schemas);
  const several = resolved.anyOf ?? resolved.oneOf;
  return several ? several.flatMap((one) => choices(one, schemas)) : [resolved];
}

/** A schema in a few words: `integer, -100 to 100, or null`. */
export function wordsOf(field: Schema, schemas: Schemas): string {
  const kinds = choices(field, schemas).map((one) => kindOf(one, schemas));
  const fallback = field.default ?? null;
  const words = [...new Set(kinds)].join(' or ');
  return fallback === null || fallback === '' || typeof fallback === 'object'
    ? words
    : `${words}, default ${fallback}`;
}

function kindOf(schema: Schema, schemas: Schemas): string {
  if ('const' in schema) return String(schema.const);
  if (schema.enum) return schema.enum.join(' | ');
  if (schema.type === 'array') return `list of ${wordsOf(schema.items ?? {}, schemas)}`;
  const kind = schema.format ?? schema.type ?? 'anything';
  return [kind, rangeOf(schema)].filter(Boolean).join(', ');
}

function rangeOf({ minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `at most ${maxLength} characters`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return minimum === undefined ? '' : `${minimum} or more`;
}
