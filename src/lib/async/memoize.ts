/** The same function, with its results for the latest distinct arguments kept until `clear`. It must be pure. */
export function memoize<In extends object, Out>(most: number, make: (argument: In) => Out) {
  const results = createLatest<Out>(most);
  const call = (argument: In): Out => {
    const key = JSON.stringify(argument);
    return results.get(key) ?? results.set(key, make(argument));
  };
  return Object.assign(call, { clear: results.clear });
}

export function createLatest<Value>(most: number) {
  const values = new Map<string, Value>();

  function set(key: string, value: Value): Value {
    values.delete(key);
    values.set(key, value);
    if (values.size > most) values.delete(values.keys().next().value ?? key);
    return value;
  }

  return {
    get(key: string): Value | undefined {
      const value = values.get(key);
      return value === undefined ? undefined : set(key, value);
    },
    set,
    clear: () => values.clear(),
  };
}

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
