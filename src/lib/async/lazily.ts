/**
 * What `make` makes, made when it is first asked for. For constants that are dear and that few commands need, such as
 * names of languages and forms of dates: the first of them costs some milliseconds, which each start would wait for.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
