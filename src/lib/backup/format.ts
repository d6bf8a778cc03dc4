import * as v from 'valibot';
import type { Sql } from '../db/db.ts';

/** What a program's backups are. */
export type Archive = {
  /** The name of the program, which a file must carry to be restored. */
  program: string;
  /** Tables that belong to a running deployment and mean nothing in another. */
  except: readonly string[];
  /** Whether the database holds something that a restore would mix with. */
  isFilled: (sql: Sql) => Promise<boolean>;
};

/**
 * A backup is one zstd file of JSON lines: a header; for each table a line with its name and a line for
 * each row; at the end the number of rows, without which the file is not whole.
 */
export const Header = v.object({
  backup_of: v.string(),
  format: v.literal(1),
  created_at: v.string(),
  migrations: v.array(v.object({ name: v.string(), sha256: v.string() })),
  secret_key: v.nullable(v.string()),
});
export type Header = v.InferOutput<typeof Header>;

/** Its first character distinguishes it from a row: rows come as `[`, in an array of one. */
export const Mark = v.union([v.object({ table: v.string() }), v.object({ rows: v.number() })]);
export type Mark = v.InferOutput<typeof Mark>;

/** Marks the jobs of the queue, which follow the tables. */
export const queue = 'queue';
