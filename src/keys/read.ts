import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { notFound } from '../errors.ts';
import { type Db, one, type Part, type Sql } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import type { Replica } from '../lib/db/replica.ts';
import type { ListReader } from '../lib/export/export.ts';
import { type RequestEnv, watchCaller } from '../lib/http/http.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import type { ApiEnv } from './authenticate.ts';

export type ReplicaTools = { db: Db; replica?: Replica | undefined };

/** The expression that makes an answer as JSON text; undefined when there is nothing to look for. */
type MakeJson = (orgId: Part) => Part | undefined;

/** Answers GET requests by one statement each; a request whose caller has gone does not begin. */
export function createReader(tools: ReplicaTools) {
  async function read(c: Context<ApiEnv>, json: MakeJson): Promise<string | null> {
    const { org_id: orgId } = c.var.key;
    const asked = json(tools.db`${orgId}::uuid`);
    if (!asked) return null;
    const select = async (sql: Sql) =>
      one(await sql<{ json: string | null }[]>`select (${asked}) as json`).json;
    const turn = { isGone: watchCaller(c), waitMs: requestWaitMs };
    return await inGroup(orgId, () => readFresh(tools, orgId, select), turn);
  }

  /** `what` names what was not found. */
  async function answer(c: Context<ApiEnv>, what: string, json: MakeJson): Promise<Response> {
    const found = await read(c, json);
    if (found === null) throw notFound(what);
    return answerRead(c, found);
  }

  return { read, answer };
}

/** How the ranges of a file are read: among the costly work of their organization, and not once their reader has gone. */
export const exportReads =
  (tools: ReplicaTools, orgId: string) =>
  <T>({ isGone }: ListReader, work: (sql: Sql) => Promise<T>): Promise<T> =>
    inGroup(orgId, () => readFresh(tools, orgId, work), { kind: 'exports', costly: true, isGone });

/** Runs what only reads on the replica, if it has what the organization wrote, or else on the primary. */
async function readFresh<T>(
  { db, replica }: ReplicaTools,
  orgId: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  if (!replica?.isUsable()) return await work(db);
  const found = await replica.read(await findWritten(db, orgId), work);
  return found ? found.value : await work(db);
}

/** The position of the write-ahead log after the last write of an organization, in bytes. */
async function findWritten(sql: Sql, orgId: string): Promise<number> {
  const [row] = await sql<{ written: number }[]>`
    select pg_wal_lsn_diff(position, '0/0')::float8 as written
    from organization_writes
    where org_id = ${orgId}`;
  return row?.written ?? 0;
}

const reading = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * After a request that has written: the next reader of its organization finds it, through any process.
 * It is recorded before the answer goes out, because until then the caller does not know that it has written.
 */
export const recordWrites = ({ db, replica }: ReplicaTools) =>
  createMiddleware<RequestEnv>(async (c, next) => {
    await next();
    if (!replica || reading.has(c.req.method) || c.res.status >= 400) return;
    const orgId = c.get('tenant');
    if (orgId) await recordWritten(db, orgId);
  });

/** The position is read under the lock of the row, so that the later of two writes leaves the later one. */
async function recordWritten(sql: Sql, orgId: string) {
  await sql`
    insert into organization_writes (org_id, position)
    values (${orgId}, pg_current_wal_insert_lsn())
    on conflict (org_id) do update set position = pg_current_wal_insert_lsn()`;
}
