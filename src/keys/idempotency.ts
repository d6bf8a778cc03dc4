import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Refusal } from '../errors.ts';
import type { SealedFor, Secrets } from '../lib/crypto/secrets.ts';
import { type Db, one, type Sql } from '../lib/db/db.ts';
import { readBody } from '../lib/http/body.ts';
import type { Log } from '../lib/log/log.ts';
import type { ApiEnv } from './authenticate.ts';

const batchSize = 100;

export type AnswerName = { key_id: string; name: string };

/** Finds stored responses that match. They are encrypted, so each one is opened. */
export async function findAnswers(
  { db, secrets }: { db: Sql; secrets: Secrets },
  orgId: string,
  matches: (text: string) => boolean | Promise<boolean>,
): Promise<AnswerName[]> {
  const names: AnswerName[] = [];
  for (let after: AnswerName | null = null; ; ) {
    const answers: StoredAnswer[] = await db<StoredAnswer[]>`
      select i.key_id, i.name, i.answer
      from api_keys k
      join idempotency_keys i on i.key_id = k.id
      where k.org_id = ${orgId} and i.answer is not null
        ${after ? db`and (i.key_id, i.name) > (${after.key_id}::uuid, ${after.name})` : db``}
      order by i.key_id, i.name
      limit ${batchSize}`;
    for (const { key_id, name, answer } of answers) {
      const store = answerStore(secrets, { owner: orgId, id: `${key_id} ${name}` });
      if (await matches(await store.unpack(answer))) names.push({ key_id, name });
    }
    if (answers.length < batchSize) return names;
    after = answers.at(-1)!;
  }
}

type StoredAnswer = AnswerName & { answer: Buffer };

export async function deleteAnswers(sql: Sql, orgId: string, answers: readonly AnswerName[]) {
  const { count } = await sql`
    delete from idempotency_keys i
    using unnest(${answers.map(({ key_id }) => key_id)}::uuid[],
                 ${answers.map(({ name }) => name)}::text[]) as of (key_id, name)
    where i.key_id = of.key_id and i.name = of.name
      and exists (select from api_keys where id = i.key_id and org_id = ${orgId})`;
  return count;
}

/**
 * A request that exceeds the longest deadline by this much has died without a response. The deadline of a send begins
 * after it has waited for a connection and saved its contacts.
 */
const marginSeconds = 90;

type IdempotencyTools = {
  db: Db;
  log: Log;
  secrets: Secrets;
  settings: { sendDeadlineSeconds: number };
};

/** A key counts for this long. */
export const keyHours = 24;

/** Compressed size. The response to a send of the largest list fits. */
const maxStoredAnswer = 1024 * 1024;

/**
 * Runs a POST with an Idempotency-Key once in `keyHours` and replays the stored response, which is encrypted because it
 * may contain a secret that is shown once. 5xx responses and dry runs are not stored, so that they can run again.
 */
export const answerOnce = ({ db, log, secrets, settings }: IdempotencyTools) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    const name = c.req.header('Idempotency-Key');
    if (name === undefined || c.req.method !== 'POST') return await next();
    if (!/^[\x21-\x7E]{1,255}$/.test(name)) {
      throw new Refusal('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters', {
        code: 'invalid_idempotency_key',
      });
    }
    const request = { keyId: c.var.key.id, name, requestHash: await hashRequest(c) };
    const claimed = await claimName(db, request, settings.sendDeadlineSeconds + marginSeconds);
    const store = answerStore(secrets, { owner: c.var.key.org_id, id: `${request.keyId} ${name}` });
    if (claimed.claimed_at === null) {
      refuseWithoutAnswer(claimed);
      c.header('Idempotent-Replayed', 'true');
      c.header('Content-Type', 'application/json');
      return c.body(await store.unpack(claimed.answer!), claimed.status as ContentfulStatusCode);
    }

    await next();
    const claim = { ...request, claimedAt: claimed.claimed_at };
    const isStored = c.res.status < 500 && c.req.query('dry_run') !== 'true';
    // The request has run, so its response must go out even if storing it fails.
    try {
      if (!isStored) return await releaseName(db, claim);
      await saveAnswer(db, claim, c.res.status, await store.pack(await c.res.clone().text()));
    } catch (error) {
      log.error({ err: error, request_id: c.var.requestId }, 'could not store a response');
    }
  });

function refuseWithoutAnswer({ same_request, status, answer }: NameClaim) {
  if (same_request === false) {
    throw new Refusal('unprocessable', 'this Idempotency-Key was used for another request', {
      code: 'idempotency_key_reused',
    });
  }
  if (status === null) {
    throw new Refusal(
      'conflict',
      'a request with this Idempotency-Key is still running, try again',
      { code: 'idempotency_key_running', retryInSeconds: 1 },
    );
  }
  if (answer !== null) return;
  throw new Refusal(
    'conflict',
    `a request with this Idempotency-Key has run with status ${status}, but its response was too large to store`,
    { code: 'idempotency_answer_not_stored' },
  );
}

/** Compresses before encrypting, because ciphertext does not compress. */
export const answerStore = (secrets: Secrets, owner: SealedFor) => ({
  async pack(body: string): Promise<Buffer | null> {
    const compressed = await compress(body);
    return compressed.length > maxStoredAnswer ? null : secrets.seal(owner, compressed);
  },
  unpack: async (answer: Uint8Array) =>
    (await decompress(secrets.openBytes(owner, answer))).toString('utf8'),
});

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];

/** Covers path, query and body, because the same name on a different request is a mistake. */
async function hashRequest(c: Context<ApiEnv>): Promise<Buffer> {
  const { pathname, search } = new URL(c.req.url);
  const body = await readBody(c);
  return createHash('sha256').update(`${pathname}${search}\n`).update(body).digest();
}

type NamedRequest = { keyId: string; name: string; requestHash: Buffer };

type NameClaim = {
  /** Set if this request has claimed the name. Distinguishes the claim from a later claim of the same name. */
  claimed_at: string | null;
  same_request: boolean | null;
  status: number | null;
  /** Sealed. */
  answer: Buffer | null;
};

/**
 * Claims the name unless a request with it is running or was answered within 24 hours. A request that is unanswered
 * after `runningSeconds` has died, and its name is free again.
 */
async function claimName(
  sql: Sql,
  { keyId, name, requestHash }: NamedRequest,
  runningSeconds: number,
): Promise<NameClaim> {
  return one(
    await sql<NameClaim[]>`
      with claimed as (
        insert into idempotency_keys as i (key_id, name, request_hash)
        values (${keyId}, ${name}, ${requestHash})
        on conflict (key_id, name) do update
          set request_hash = excluded.request_hash,
              status = null,
              answer = null,
              created_at = excluded.created_at
          where i.created_at < now() - make_interval(hours => ${keyHours}::int)
             or (i.status is null
                 and i.request_hash = excluded.request_hash
                 and i.created_at < now() - make_interval(secs => ${runningSeconds}))
        returning created_at::text as claimed_at
      ), before as (
        select request_hash = ${requestHash} as same_request, status, answer
        from idempotency_keys
        where key_id = ${keyId} and name = ${name}
      )
      select claimed_at, same_request, status, answer
      from (values (1)) as always
      left join claimed on true
      left join before on claimed_at is null`,
  );
}

type ClaimedName = NamedRequest & { claimedAt: string };

/** Larger responses of a key share `storedBytesPerKey`. The rate limit bounds the number of small ones. */
const smallAnswer = 1024;
const storedBytesPerKey = 64 * 1024 * 1024;

export async function saveAnswer(
  sql: Sql,
  { keyId, name, claimedAt }: ClaimedName,
  status: number,
  body: Buffer | null,
) {
  const bytes = body?.length ?? 0;
  const hasRoom =
    bytes <= smallAnswer
      ? sql`true`
      : sql`${bytes}::int <= ${storedBytesPerKey}::int - (
          select coalesce(sum(answer_bytes), 0)
          from idempotency_keys
          where key_id = ${keyId} and answer_bytes > 1024
        )`;
  await sql`
    update idempotency_keys
    set status = ${status},
        answer = case when ${hasRoom} then ${body}::bytea end
    where key_id = ${keyId} and name = ${name} and created_at = ${claimedAt}::text::timestamptz`;
}

async function releaseName(sql: Sql, { keyId, name, claimedAt }: ClaimedName) {
  await sql`
    delete from idempotency_keys
    where key_id = ${keyId} and name = ${name} and created_at = ${claimedAt}::text::timestamptz`;
}
