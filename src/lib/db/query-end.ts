/** A query as the driver makes it, of which several parts want to know when it has ended. */
export type EndingQuery = Promise<unknown> & { [listeners]?: ((error: unknown) => void)[] };

const listeners = Symbol('listeners');

/**
 * Calls back when a query has ended, with its error if it failed. What surrounds the pool asks for this of each query;
 * a reaction of its own for each of them would cost more than all that they do.
 */
export function onEnd(query: EndingQuery, ended: (error: unknown) => void) {
  const known = query[listeners];
  if (known) {
    known.push(ended);
    return;
  }
  const all = [ended];
  query[listeners] = all;
  const call = (error?: unknown) => {
    for (const each of all) each(error);
  };
  query.then(() => call(), call);
}
