import { createMiddleware } from 'hono/factory';
import type { Db, Part, Sql } from '../lib/db/db.ts';
import { inGroup } from '../lib/db/fair-pool.ts';
import type { Replica } from '../lib/db/replica.ts';
import type { ListReader } from '../lib/export/read-ahead.ts';
import type { RequestEnv } from '../lib/http/http.ts';
import { asPart, findWritten, readJson, recordWritten } from './writes.queries.ts';

/** Where reads may go instead of the primary. */
export type ReplicaTools = { db: Db; replica?: Replica | undefined };

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

/** Runs what only reads on the replica, if it has what the organization wrote, or else on the primary. */
export async function readFresh<T>(
  { db, replica }: ReplicaTools,
  orgId: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  if (!replica?.isUsable()) return await work(db);
  const found = await replica.read(await findWritten(db, orgId), work);
  return found ? found.value : await work(db);
}

/** How the ranges of a file are read: among the costly work of their organization, and not once their reader has gone. */
export const exportReads =
  (tools: ReplicaTools, orgId: string) =>
  <T>({ isGone }: ListReader, work: (sql: Sql) => Promise<T>): Promise<T> =>
    inGroup(orgId, () => readFresh(tools, orgId, work), { kind: 'exports', costly: true, isGone });

type FreshJson = { orgId: string; written: number; json: (orgId: Part) => Part | undefined };

export async function readJsonFresh(
  { db, replica }: ReplicaTools,
  { orgId, written, json }: FreshJson,
): Promise<string | null> {
  const asked = json(asPart(db, orgId));
  if (!asked) return null;
  const found = await replica?.read(written, (sql) => readJson(sql, asked));
  return found ? found.value : await readJson(db, asked);
}
