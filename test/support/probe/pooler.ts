/** The PgBouncer of `ops/ci/with-pgbouncer`, in front of the Postgres of the tests. */
const pooler = process.env['TEST_POOLER_URL'];

/** The address of a database by way of the pooler, if there is one. */
export function throughPooler(url: string): string | undefined {
  if (!pooler) return undefined;
  const through = new URL(pooler);
  through.pathname = new URL(url).pathname;
  return through.href;
}
