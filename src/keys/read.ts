import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { notFound } from '../errors.ts';
import { type Db, one, type Part, type Sql } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import type { Replica } from '../lib/db/replica.ts';
import {
  csvLine,
  type ExportColumn,
  type ExportFormat,
  exportLine,
  type FileText,
  linesOfRange,
  pickRange,
  readLines,
  readRanges,
} from '../lib/export/export.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import type { ApiEnv } from './authenticate.ts';

export type ReplicaTools = { db: Db; replica?: Replica | undefined };

/** Returns the SQL expression of a response as JSON text. Undefined means that nothing can match. */
type MakeJson = (orgId: Part) => Part | undefined;

/** Answers GET requests with one statement each. */
export function createReader(tools: ReplicaTools) {
  async function read(c: Context<ApiEnv>, json: MakeJson): Promise<string | null> {
    const { org_id: orgId } = c.var.key;
    const expression = json(tools.db`${orgId}::uuid`);
    if (!expression) return null;
    const select = async (sql: Sql) =>
      one(await sql<{ json: string | null }[]>`select (${expression}) as json`).json;
    const turn = { waitMs: requestWaitMs };
    return await inGroup(orgId, () => readFresh(tools, orgId, select), turn);
  }

  /** `what` is the noun for a 404. */
  async function answer(c: Context<ApiEnv>, what: string, json: MakeJson): Promise<Response> {
    const body = await read(c, json);
    if (body === null) throw notFound(what);
    return answerRead(c, body);
  }

  return { read, answer };
}

/** Reads ranges of an export as costly work of the organization. */
export const exportReads =
  (tools: ReplicaTools, orgId: string) =>
  <T>(work: (sql: Sql) => Promise<T>): Promise<T> =>
    inGroup(orgId, () => readFresh(tools, orgId, work), { kind: 'exports', costly: true });

type Exported = {
  format: ExportFormat;
  /** Reads rows `p` of `picked`. */
  columns: (sql: Sql) => ExportColumn[];
  rows: (sql: Sql) => Part;
  joins?: (sql: Sql) => Part;
};

/** Streams rows, newest first. No connection is held while the client reads. */
export async function* exportRows(
  tools: ReplicaTools,
  orgId: string,
  { format, columns, rows, joins = (sql) => sql`` }: Exported,
): AsyncGenerator<FileText> {
  const read = exportReads(tools, orgId);
  if (format === 'csv') yield csvLine(columns(tools.db).map(({ name }) => name));
  yield* readRanges((after) =>
    read((sql) =>
      readLines(sql`
        with ${pickRange(sql, rows(sql), after)}
        select ${linesOfRange(sql, exportLine(sql, format, columns(sql)))}
        from picked p ${joins(sql)}`),
    ),
  );
}

/** Reads from the replica if it has all writes of the organization, or else from the primary. */
async function readFresh<T>(
  { db, replica }: ReplicaTools,
  orgId: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  if (!replica?.isUsable()) return await work(db);
  const result = await replica.read(await findWrittenPosition(db, orgId), work);
  return result ? result.value : await work(db);
}

/** The WAL position of the organization's last write, in bytes. */
async function findWrittenPosition(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ written: number }[]>`
    select pg_wal_lsn_diff(position, '0/0')::float8 as written
    from organization_writes
    where org_id = ${orgId}`;
  return row?.written ?? 0;
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Records the WAL position of a write before its response goes out, so that the organization reads its own writes
 * through any process.
 */
export const recordWrites = ({ db, replica }: ReplicaTools) =>
  createMiddleware<RequestEnv>(async (c, next) => {
    await next();
    if (!replica || reading.has(c.req.method) || c.res.status >= 400) return;
    const orgId = c.get('tenant');
    if (orgId) await recordWrittenPosition(db, orgId);
  });

/** Reads the position under the row lock, so that the later of two writes leaves the later position. */
async function recordWrittenPosition(sql: Sql, orgId: string) {
  await sql`
    insert into organization_writes (org_id, position)
    values (${orgId}, pg_current_wal_insert_lsn())
    on conflict (org_id) do update set position = pg_current_wal_insert_lsn()`;
}
