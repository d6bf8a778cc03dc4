import type { Described, Link } from './document.ts';

type Paths = Record<string, Record<string, Described>>;

/**
 * Adds what answers lead to: with the id in the answer of `/things`, or of its first row, go the operations of
 * `/things/{id}` and of what lies below it.
 */
export function addLinks(paths: Paths) {
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of ['get', 'post']) {
      const operation = methods[method];
      const pointer = operation && idIn(operation);
      if (pointer) link(operation, pointer, below(paths, path));
    }
  }
}

/** Where the id stands in the example of an answer, which fits its schema. */
function idIn({ responses }: Described): string | undefined {
  const success = Object.entries(responses).find(([status]) => /^20[01]$/.test(status))?.[1];
  const example = success?.content?.['application/json']?.example as
    | { data?: { id?: unknown } | { id?: unknown }[] }
    | undefined;
  const data = example?.data;
  if (Array.isArray(data)) return data[0]?.id ? '/data/0/id' : undefined;
  return data?.id ? '/data/id' : undefined;
}

function below(paths: Paths, path: string): Described[] {
  const own = Object.entries(paths).filter(([other]) => {
    const rest = other.startsWith(`${path}/{id}`) ? other.slice(path.length) : '';
    return /^\/\{id\}(\/[a-z-]+)?$/.test(rest);
  });
  return own.flatMap(([, methods]) => Object.values(methods));
}

function link({ responses }: Described, pointer: string, operations: readonly Described[]) {
  if (operations.length === 0) return;
  const links = operations.map(({ operationId }): [string, Link] => [
    operationId,
    { operationId, parameters: { id: `$response.body#${pointer}` } },
  ]);
  for (const [status, answer] of Object.entries(responses)) {
    if (/^20[01]$/.test(status) && answer.content) answer.links = Object.fromEntries(links);
  }
}
