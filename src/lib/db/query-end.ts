/** A query as the driver makes it, of which several parts want to know when it has ended. */
export type EndingQuery = Promise<unknown> & { [followers]?: QueryFollower[] };

/** Called at the end of a query, with its error if it failed. One may follow many queries. */
export type QueryFollower = { ended: (query: EndingQuery, error: unknown) => void };

const followers = Symbol('followers');

/**
 * Calls a follower when a query has ended. What surrounds the pool asks for this of each query; a reaction of its own
 * for each of them would cost more than all that they do.
 */
export function onEnd(query: EndingQuery, follower: QueryFollower) {
  const known = query[followers];
  if (known) {
    known.push(follower);
    return;
  }
  const all = [follower];
  query[followers] = all;
  const call = (error?: unknown) => {
    for (const each of all) each.ended(query, error);
  };
  query.then(() => call(), call);
}
