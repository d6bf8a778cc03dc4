import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { notFound } from '../errors.ts';
import { createLatest, lazily } from '../lib/async/memoize.ts';
import type { Db, Part, Sql } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import type { Replica } from '../lib/db/replica.ts';
import type { ListReader } from '../lib/export/export.ts';
import { checkNul, type RequestEnv, watchCaller } from '../lib/http/http.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { type ApiEnv, accept, credentialsOf, type KeyTools, noteUse } from './authenticate.ts';
import {
  asPart,
  type Credentials,
  countReader,
  findWritten,
  orgOfKey,
  readJson,
  readWithKey,
  recordWritten,
} from './queries.ts';

/** How many keys' organizations are remembered. They only say which requests share a part of the pool. */
const knownKeys = 10_000;

/** How many queries are remembered, for each route that takes one: some kilobytes each. */
const knownQueries = 100;
const longestQuery = 500;

/** With a replica, reads go there. */
export type ReaderTools = KeyTools & ReplicaTools;

/**
 * Answers a GET by one statement, which finds the key, counts the request and makes the answer as JSON text: half of
 * what two cost. What the request asks for is checked before, and refused after the request has been counted.
 * `json` gets the organization as the statement knows it; nothing found, or nothing to look for, is null.
 */
export function createReader({ db, replica, settings }: ReaderTools) {
  const organizations = new Map<string, string>();
  const orgOfThisKey = lazily(() => orgOfKey(db));

  async function read(
    c: Context<ApiEnv>,
    json: (orgId: Part) => Part | undefined,
  ): Promise<string | null> {
    const asked = attempt(() => {
      checkNul(c);
      return json(orgOfThisKey());
    });
    const credentials = credentialsOf(c);
    if (replica?.isUsable()) return await readApart(c, json, credentials);
    const publicId = credentials.key?.publicId ?? '';
    const { json: found, ...counted } = await inGroup(
      organizations.get(publicId) ?? publicId,
      () => readWithKey(db, credentials, { json: asked.value, quota: settings.rateLimit }),
      turnOf(c),
    );
    const { key, headers } = accept(c, settings, counted);
    c.set('answerHeaders', headers);
    if (counted.used === 1) await inGroup(key.org_id, () => noteUse(db, counted));
    if (!organizations.has(publicId)) {
      if (organizations.size >= knownKeys) organizations.clear();
      organizations.set(publicId, key.org_id);
    }
    if (asked.error !== undefined) throw asked.error;
    return found;
  }

  /** Two statements in place of one: the primary counts the request, and the replica answers it. */
  async function readApart(
    c: Context<ApiEnv>,
    json: (orgId: Part) => Part | undefined,
    credentials: Credentials,
  ): Promise<string | null> {
    const { written, ...counted } = await countReader(db, credentials);
    const { key, headers } = accept(c, settings, counted);
    c.set('answerHeaders', headers);
    if (counted.used === 1) await inGroup(key.org_id, () => noteUse(db, counted));
    checkNul(c);
    const orgId = key.org_id;
    const wanted = { orgId, written, json };
    return await inGroup(orgId, () => readJsonFresh({ db, replica }, wanted), turnOf(c));
  }

  /** Passes on what the statement has made; `what` names it for the caller when there is none. */
  async function answer(
    c: Context<ApiEnv>,
    what: string,
    json: (orgId: Part) => Part | undefined,
  ): Promise<Response> {
    const found = await read(c, json);
    if (found === null) throw notFound(what);
    return answerRead(c, found);
  }

  /**
   * What a query asks for is read and made once, however many keys ask: it takes longer than all else before the
   * statement is sent. It may depend on nothing else.
   */
  function byQuery(make: (orgId: Part, queries: Record<string, string[]>) => Part) {
    const known = createLatest<Part>(knownQueries);
    return (c: Context<ApiEnv>) => (of: Part) => {
      const query = queryOf(c.req.url);
      const isShared = of === orgOfThisKey();
      const found = isShared ? known.get(query) : undefined;
      if (found) return found;
      const made = make(of, c.req.queries());
      if (!isShared || query.length > longestQuery) return made;
      return known.set(query, made);
    };
  }

  return { read, answer, byQuery };
}

const queryOf = (url: string) => {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
};

const turnOf = (c: Context) => ({ isGone: watchCaller(c), waitMs: requestWaitMs });

function attempt<T>(work: () => T): { value?: T; error?: unknown } {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

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
async function readFresh<T>(
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

async function readJsonFresh(
  { db, replica }: ReplicaTools,
  { orgId, written, json }: FreshJson,
): Promise<string | null> {
  const asked = json(asPart(db, orgId));
  if (!asked) return null;
  const found = await replica?.read(written, (sql) => readJson(sql, asked));
  return found ? found.value : await readJson(db, asked);
}
