import type { Facet } from '../responses/facets.cte.ts';

/** The properties that are asked for by the names of the API; the last value of each counts. */
export type AskedProperties = { [parameter: `property.${string}`]: string };

const prefix = 'property.';
const mostProperties = 10;
const typedForm = /^\s*([^=]*[^=\s])\s*=\s*(.*\S)\s*$/s;

type PropertiesRead = {
  properties: AskedProperties;
  /** What was typed, where it cannot be read. */
  typed: Record<string, string>;
  errors: Record<string, string>;
};

/** What an address asks for, together with what was typed as `plan=pro`. */
export function readProperties(queries: Readonly<Record<string, string[]>>): PropertiesRead {
  const { property: typed = [], ...named } = queries;
  const properties: AskedProperties = {};
  for (const [parameter, values] of Object.entries(named)) {
    const value = values.at(-1);
    if (isProperty(parameter) && value) properties[parameter] = value;
  }
  const text = typed.at(-1) ?? '';
  const [, name, value] = typedForm.exec(text) ?? [];
  if (name !== undefined && value !== undefined) properties[`${prefix}${name}`] = value;
  else if (text !== '') return mistaken(properties, text, typedWrongly);
  const isTooMuch = Object.keys(properties).length > mostProperties;
  return isTooMuch ? mistaken({}, text, tooMany) : { properties, typed: {}, errors: {} };
}

const mistaken = (properties: AskedProperties, text: string, why: string): PropertiesRead => ({
  properties,
  typed: { property: text },
  errors: { property: why },
});

const typedWrongly = 'Write it as name=value, such as plan=pro.';
const tooMany = `At most ${mostProperties} properties can be asked for.`;

const isProperty = (parameter: string): parameter is `property.${string}` =>
  parameter.startsWith(prefix) && parameter.length > prefix.length;

export const facetsOf = (properties: AskedProperties): Facet[] =>
  Object.entries(properties).map(([parameter, value]) => ({
    kind: 'property',
    name: parameter.slice(prefix.length),
    value,
  }));

/** How a link asks for a property. */
export const propertyParameter = (name: string): `property.${string}` => `${prefix}${name}`;
