import type postgres from 'postgres';

/** A query as the driver makes it: only its own questions come without a way to cancel them. */
type DriverQuery = {
  canceller: unknown;
  reject: (error: unknown) => void;
  handle: () => Promise<void>;
};

const known = new WeakSet<DriverQuery>();

/**
 * The driver asks each connection for the types of arrays before the first statement, and nothing handles an
 * error of that question, as when a connection breaks just then. The statement that waits for
 * the connection gets the same error, so nothing is lost when the question has none.
 */
export function ignoreErrorsOfDriverQuestions(driver: postgres.Sql) {
  const prototype = Object.getPrototypeOf(driver``) as DriverQuery;
  if (known.has(prototype)) return;
  known.add(prototype);
  const { handle } = prototype;
  prototype.handle = function (this: DriverQuery) {
    if (this.canceller === undefined) this.reject = () => {};
    return handle.call(this);
  };
}
