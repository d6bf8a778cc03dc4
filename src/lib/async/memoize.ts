/** The same function, with its results for the latest distinct arguments kept. It must be pure. */
export function memoize<In, Out>(most: number, make: (argument: In) => Out) {
  const results = new Map<string, Out>();
  return (argument: In): Out => {
    const key = JSON.stringify(argument);
    const result = results.get(key) ?? make(argument);
    results.delete(key);
    results.set(key, result);
    if (results.size > most) results.delete(results.keys().next().value ?? key);
    return result;
  };
}

/**
 * Calls `make` on first use and keeps the result. For constants that are dear and that few commands need, such as
 * names of languages and forms of dates: the first of them costs some milliseconds, which each start would wait for.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
