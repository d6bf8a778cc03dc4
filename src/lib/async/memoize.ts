/** The same function, with its results for the latest distinct arguments kept until `clear`. It must be pure. */
export function memoize<In extends object, Out>(most: number, make: (argument: In) => Out) {
  const results = new Map<string, Out>();
  const call = (argument: In): Out => {
    const key = JSON.stringify(argument);
    const result = results.get(key) ?? make(argument);
    results.delete(key);
    results.set(key, result);
    if (results.size > most) results.delete(results.keys().next().value ?? key);
    return result;
  };
  return Object.assign(call, { clear: () => results.clear() });
}
