import type { Db } from './db.ts';

/** A query as the driver makes it: `handler` sends it when it is awaited, `state` is its connection then. */
export type DriverQuery = Promise<unknown> & {
  handler: (query: DriverQuery) => unknown;
  reject: (error: unknown) => unknown;
  state: object | null;
};

type Send = DriverQuery['handler'];
type Template = (first: unknown, ...rest: unknown[]) => unknown;

/**
 * The template function of a driver, with a step before each query is sent. All queries share one function: one of its
 * own for each keeps a query that has ended, and all that it leads to, until V8's next collection of the old generation.
 */
export function withStep(driver: Db, step: (query: DriverQuery, send: Send) => unknown): Template {
  const make = driver as unknown as Template;
  let send: Send | undefined;
  let handler: Send;
  return (first, ...rest) => {
    const made = make(first, ...rest);
    if ((first as { raw?: unknown } | undefined)?.raw) {
      const query = made as DriverQuery;
      if (query.handler !== send) {
        const next = query.handler;
        send = next;
        handler = (taken) => step(taken, next);
      }
      query.handler = handler;
    }
    return made;
  };
}
