import type {
  Described,
  DescribedAnswer,
  Document,
  Parameter,
} from '../../src/lib/openapi/openapi.ts';
import type { Schema } from '../../src/lib/openapi/operation.ts';

/** The parts of an API document that clients rely on. */
export type Promised = Pick<Document, 'paths' | 'webhooks'> & {
  components: { schemas: Record<string, Schema> };
};
type Pair = { before: Schema; after: Schema };
type Schemas = { before: Record<string, Schema>; after: Record<string, Schema> };
/** Requests may only accept more; responses may only gain fields. */
type Side = 'taken' | 'given';

/**
 * Lists changes that would break a client of the released document, one sentence each. Summaries, descriptions and
 * examples may change freely.
 */
export function breakingChanges(released: Promised, now: Promised): string[] {
  const schemas = { before: released.components.schemas, after: now.components.schemas };
  return [
    ...eachOperation(released.paths, now.paths, (before, after) => [
      ...compareParameters(before, after, schemas),
      ...compareBodies(before, after, { schemas, side: 'taken' }),
      ...compareAnswers(before, after, schemas),
      ...comparePermissions(before, after),
    ]),
    ...eachOperation(released.webhooks, now.webhooks, (before, after) => [
      ...without(before.parameters, after.parameters, ({ name }) => `the header ${name}`),
      ...compareBodies(before, after, { schemas, side: 'given' }),
    ]),
  ];
}

type Operations = Record<string, Record<string, Described>>;
type Compare = (before: Described, after: Described) => string[];

const eachOperation = (released: Operations, now: Operations, compare: Compare) =>
  Object.entries(released).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const after = now[path]?.[method];
      const place = `${method.toUpperCase()} ${path}`;
      if (!after) return [`${place} was removed`];
      return compare(before, after).map((change) => `${place}: ${change}`);
    }),
  );

function comparePermissions(before: Described, after: Described): string[] {
  const needs = ({ security = [] }: Described) => security[0]?.['apiKey']?.[0] ?? 'none';
  const rank = ['none', 'read', 'write'];
  const more = rank.indexOf(needs(after)) > rank.indexOf(needs(before));
  return more ? [`a ${needs(after)} key is needed now`] : [];
}

function compareParameters(before: Described, after: Described, schemas: Schemas): string[] {
  const same = (one: Parameter) => (other: Parameter) =>
    one.name === other.name && one.in === other.in;
  const nameOf = ({ name }: Parameter) => `the parameter ${name}`;
  return [
    ...without(before.parameters, after.parameters, nameOf),
    ...after.parameters.flatMap((parameter) => {
      const old = before.parameters.find(same(parameter));
      const required = parameter.required && !old?.required;
      const pair = { before: old?.schema ?? {}, after: parameter.schema };
      return [
        ...(required ? [`${nameOf(parameter)} is required now`] : []),
        ...(old ? compareSchemas(pair, { schemas, side: 'taken', at: parameter.name }) : []),
      ];
    }),
  ];
}

function compareBodies(before: Described, after: Described, about: Omit<About, 'at'>): string[] {
  const schemaOf = ({ requestBody }: Described) =>
    requestBody?.content['application/json']?.schema ?? {};
  const required = after.requestBody?.required && !before.requestBody?.required;
  return [
    ...(required ? ['the body is required now'] : []),
    ...compareSchemas(
      { before: schemaOf(before), after: schemaOf(after) },
      { ...about, at: 'the body' },
    ),
  ];
}

/** Error responses may be added or removed, but their fields stay. */
const compareAnswers = (before: Described, after: Described, schemas: Schemas) =>
  Object.entries(before.responses).flatMap(([status, old]) => {
    const answer = after.responses[status];
    if (!answer) return status < '400' ? [`the answer ${status} was removed`] : [];
    const schemaOf = ({ content }: DescribedAnswer) => content?.['application/json']?.schema ?? {};
    const pair = { before: schemaOf(old), after: schemaOf(answer) };
    return compareSchemas(pair, { schemas, side: 'given', at: `answer ${status}` });
  });

const without = <T extends { name: string }>(before: T[], after: T[], nameOf: (one: T) => string) =>
  before
    .filter(({ name }) => !after.some((other) => other.name === name))
    .map((one) => `${nameOf(one)} was removed`);

type About = { schemas: Schemas; side: Side; at: string };

function compareSchemas(pair: Pair, about: About): string[] {
  const before = alternatives(pair.before, about.schemas.before);
  const after = alternatives(pair.after, about.schemas.after);
  const [lost, gained] = [missing(before, after), missing(after, before)];
  const retyped = about.side === 'taken' ? lost : [...lost, ...gained];
  if (retyped.length > 0) {
    const names = (of: Schema[]) => of.map(typeOf).join(' or ');
    return [`${about.at} was ${names(before)} and is ${names(after)}`];
  }
  return before.flatMap((old) => {
    const candidates = after.filter((one) => typeOf(one) === typeOf(old));
    const changes = candidates.map((one) => compareAlike({ before: old, after: one }, about));
    return changes.sort((a, b) => a.length - b.length)[0] ?? [];
  });
}

const missing = (from: Schema[], to: Schema[]) =>
  from.filter((one) => !to.some((other) => typeOf(other) === typeOf(one)));

function alternatives(schema: Schema, named: Record<string, Schema>): Schema[] {
  const { $ref } = schema;
  if ($ref) return alternatives(named[$ref.split('/').at(-1) ?? ''] ?? {}, named);
  const several = schema.anyOf ?? schema.oneOf;
  return several ? several.flatMap((one) => alternatives(one, named)) : [schema];
}

const typeOf = ({ type = 'anything' }: Schema) => type;

function compareAlike({ before, after }: Pair, about: About): string[] {
  const { at } = about;
  return [
    ...compareFields({ before, after }, about),
    ...(before.items
      ? compareSchemas(
          { before: before.items, after: after.items ?? {} },
          { ...about, at: `${at}[]` },
        )
      : []),
    ...lostValues({ before, after }, about.side).map((value) => `${at} lost the value ${value}`),
    ...(before.format && before.format !== after.format ? [`${at} lost its format`] : []),
    ...(about.side === 'taken' ? narrowed({ before, after }).map((what) => `${at}: ${what}`) : []),
  ];
}

function compareFields({ before, after }: Pair, about: About): string[] {
  const { at, side } = about;
  const [old, fields] = [before.properties ?? {}, after.properties ?? {}];
  const removed = Object.keys(old).filter((name) => !(name in fields));
  const [wasRequired, isRequired] = [before.required ?? [], after.required ?? []];
  const needed = isRequired.filter((name) => !wasRequired.includes(name));
  const doubtful = wasRequired.filter((name) => !isRequired.includes(name) && name in fields);
  return [
    ...removed.map((name) => `${at}.${name} was removed`),
    ...(side === 'taken' ? needed.map((name) => `${at}.${name} is required now`) : []),
    ...(side === 'given' ? doubtful.map((name) => `${at}.${name} may be missing now`) : []),
    ...Object.entries(old).flatMap(([name, field]) =>
      fields[name]
        ? compareSchemas({ before: field, after: fields[name] }, { ...about, at: `${at}.${name}` })
        : [],
    ),
  ];
}

const valuesOf = (schema: Schema) => ('const' in schema ? [schema.const] : schema.enum);

/** A request field that becomes an enum rejects other values; in a response an enum only documents its values. */
function lostValues({ before, after }: Pair, side: Side): unknown[] {
  const now = valuesOf(after);
  const any = side === 'taken' ? ['anything'] : [];
  return now ? (valuesOf(before) ?? any).filter((value) => !now.includes(value)) : [];
}

/** Limits of request fields that are new or tighter. */
function narrowed({ before, after }: Pair): string[] {
  const lower = (['minimum', 'minLength', 'minItems'] as const).filter(
    (name) => (after[name] ?? -Infinity) > (before[name] ?? -Infinity),
  );
  const upper = (['maximum', 'maxLength', 'maxItems'] as const).filter(
    (name) => (after[name] ?? Infinity) < (before[name] ?? Infinity),
  );
  const pattern = after.pattern !== undefined && after.pattern !== before.pattern;
  const limits: string[] = [...lower, ...upper, ...(pattern ? ['pattern'] : [])];
  return limits.map((name) => `${name} takes less than before`);
}
