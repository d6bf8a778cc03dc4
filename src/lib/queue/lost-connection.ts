/** What node-postgres, by which Graphile talks to Postgres, says of a connection that is lost, closed or not made in time. */
const sentences: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]);

/** Whether this is the error of a lost connection of the queue: it has no code, only a sentence. */
export const isLostConnection = (error: unknown): boolean =>
  error instanceof Error && sentences.has(error.message);
