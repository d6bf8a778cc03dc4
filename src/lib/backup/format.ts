import * as v from 'valibot';

/**
 * A backup is one zstd file of JSON lines: what it is; for each table a line with its name and a line
 * for each row; at the end the number of rows, without which the file is not whole.
 */
export const Header = v.object({
  askback_backup: v.literal(1),
  created_at: v.string(),
  migrations: v.array(v.object({ name: v.string(), sha256: v.string() })),
  secret_key: v.nullable(v.string()),
});
export type Header = v.InferOutput<typeof Header>;

/** A row is told from these by its first character: rows come as `[`, in an array of one. */
export const Mark = v.union([v.object({ table: v.string() }), v.object({ rows: v.number() })]);
export type Mark = v.InferOutput<typeof Mark>;

/** What belongs to a running deployment and means nothing in another. */
export const notBackedUp = ['schema_migrations', 'rate_windows', 'worker_pools', 'service_record'];
