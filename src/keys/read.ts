import type { Context } from 'hono';
import { notFound } from '../errors.ts';
import { lazily } from '../lib/async/lazily.ts';
import { createLatest } from '../lib/async/memoize.ts';
import type { Part } from '../lib/db/db.ts';
import { inGroup, requestWaitMs } from '../lib/db/fair-pool.ts';
import { watchCaller } from '../lib/http/caller-gone.ts';
import { checkNul } from '../lib/http/http.ts';
import { answerRead } from '../lib/http/read-answer.ts';
import { type ApiEnv, accept, credentialsOf, type KeyTools, noteUse } from './authenticate.ts';
import { type Credentials, countReader, orgOfKey, readWithKey } from './queries.ts';
import { type ReplicaTools, readJsonFresh } from './replica-reads.ts';

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
