/** The PgBouncer of `ops/ci/with-pgbouncer`, in front of the tests' Postgres. */
const pooler = process.env['TEST_POOLER_URL'];

/** The database's URL through the pooler, if there is one. */
export function throughPooler(url: string): string | undefined {
  if (!pooler) return undefined;
  const through = new URL(pooler);
  through.pathname = new URL(url).pathname;
  return through.href;
}
