/** Caches the results of a pure function for its latest arguments (LRU). */
export function memoize<In, Out>(maxResults: number, make: (argument: In) => Out) {
  const results = new Map<string, Out>();
  return (argument: In): Out => {
    const key = JSON.stringify(argument);
    const result = results.get(key) ?? make(argument);
    results.delete(key);
    results.set(key, result);
    if (results.size > maxResults) results.delete(results.keys().next().value ?? key);
    return result;
  };
}

/**
 * Calls `make` on first use and keeps the result. Meant for constants such as `Intl` objects, which would slow every
 * start.
 */
export function lazy<T>(make: () => T): () => T {
  let result: { value: T } | undefined;
  return () => {
    result ??= { value: make() };
    return result.value;
  };
}
