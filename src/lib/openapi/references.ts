import type { DescribedAnswer, Document, Parameter } from './openapi.ts';

export type Published = Omit<Document, 'components'> & {
  components: Document['components'] & Components;
};

type Components = {
  parameters: Record<string, Parameter>;
  responses: Record<string, DescribedAnswer>;
};

/** Replaces repeated parameters and errors with references. This halves the document and saves client types. */
export function withReferences(document: Document): Published {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const parameters = named(
    operations.flatMap((operation) => operation.parameters),
    ({ in: place, name }) => (place === 'path' ? undefined : `${pascalCase(name)}Parameter`),
  );
  const responses = named(
    operations.flatMap((operation) => Object.values(operation.responses)),
    nameOfRefusal,
  );
  const references = new Map([
    ...addresses('parameters', parameters),
    ...addresses('responses', responses),
  ]);
  const replace = (_key: string, part: unknown) => {
    const $ref = isObject(part) ? references.get(JSON.stringify(part)) : undefined;
    return $ref ? { $ref } : part;
  };
  const paths = JSON.parse(JSON.stringify(document.paths, replace));
  const components = { ...document.components, parameters, responses };
  return JSON.parse(JSON.stringify({ ...document, paths, components }));
}

/** Resolves the references again. */
export function withoutReferences<D extends object>(published: D): D {
  const { components } = published as { components?: Partial<Components> };
  return JSON.parse(JSON.stringify(published), (_key, part) => {
    const [, kind, name = ''] =
      /^#\/components\/(parameters|responses)\/(.+)$/.exec(part?.$ref ?? '') ?? [];
    return kind ? components?.[kind as keyof Components]?.[name] : part;
  });
}

/** Names the parts that occur more than once. If names collide, the first part gets the name. */
function named<T extends object>(parts: readonly T[], nameOf: (part: T) => string | undefined) {
  const byText = Map.groupBy(parts, (part) => JSON.stringify(part));
  const names: Record<string, T> = {};
  for (const [first, ...repeats] of byText.values()) {
    const name = first && nameOf(first);
    if (name !== undefined && repeats.length > 0) names[name] ??= first!;
  }
  return names;
}

const addresses = (kind: string, parts: Readonly<Record<string, object>>) =>
  Object.entries(parts).map(
    ([name, part]) => [JSON.stringify(part), `#/components/${kind}/${name}`] as const,
  );

/** `SurveyNotFoundError`, `RateLimitedError`, or undefined for a success. */
function nameOfRefusal({ content, headers }: DescribedAnswer): string | undefined {
  const example = content?.['application/json']?.example as { error?: string; code?: string };
  if (!content) return headers ? undefined : 'NotModified';
  if (example?.code === undefined) return undefined;
  return `${pascalCase(example.code === 'not_found' ? (example.error ?? '') : example.code)}Error`;
}

const pascalCase = (words: string) =>
  words
    .split(/[ _-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join('');

const isObject = (part: unknown) => typeof part === 'object' && part !== null;
