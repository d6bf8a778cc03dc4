import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Refusal } from '../errors.ts';
import type { SealedFor, Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { readBody } from '../lib/http/body.ts';
import type { Log } from '../lib/log/log.ts';
import type { ApiEnv } from './authenticate.ts';
import { type ClaimedName, claimName, releaseName, saveAnswer } from './idempotency.queries.ts';
import { isIdempotencyName, judgeRepeat } from './rules.ts';

/** A request that takes longer than the longest one may, by this much, has died without an answer. */
const marginSeconds = 30;

type IdempotencyTools = {
  db: Db;
  log: Log;
  secrets: Secrets;
  settings: { sendDeadlineSeconds: number };
};

/** Compressed. More than a send to the largest list is answered with. */
const largestStoredAnswer = 1024 * 1024;

/**
 * A POST with an Idempotency-Key runs once in 24 hours: a repeat gets the stored answer, which is sealed
 * because it may show what is shown once. A fault (5xx) is not stored, so that a repeat can do better, and
 * neither is the answer of a dry run, which changes nothing and can run again.
 */
export const answerOnce = ({ db, log, secrets, settings }: IdempotencyTools) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    const name = c.req.header('Idempotency-Key');
    if (name === undefined || c.req.method !== 'POST') return await next();
    if (!isIdempotencyName(name)) throw malformed();

    const request = { keyId: c.var.key.id, name, requestHash: await hashRequest(c) };
    const found = await claimName(db, request, settings.sendDeadlineSeconds + marginSeconds);
    const store = answerStore(secrets, { owner: c.var.key.org_id, id: `${request.keyId} ${name}` });
    const verdict = judgeRepeat(found);
    if (verdict === 'differs') throw differs();
    if (verdict === 'running') throw running();
    if (verdict === 'not_stored') throw notStored(found.status);
    if (verdict === 'replay') return replay(c, found.status, await store.unpack(found.answer!));

    await next();
    const claim = { ...request, claimedAt: found.claimed_at ?? '' };
    // The work is done: its answer goes out even when it cannot be stored.
    const isStored = c.res.status < 500 && c.req.query('dry_run') !== 'true';
    const kept = isStored ? keep({ db, pack: store.pack }, claim, c.res) : releaseName(db, claim);
    await kept.catch((error: unknown) =>
      log.error({ err: error, request_id: c.var.requestId }, 'could not store an answer'),
    );
  });

/** Compressed before it is sealed: afterwards nothing compresses. */
export const answerStore = (secrets: Secrets, owner: SealedFor) => ({
  async pack(body: string): Promise<Buffer | null> {
    const compressed = await compress(body);
    return compressed.length > largestStoredAnswer ? null : secrets.seal(owner, compressed);
  },
  unpack: async (answer: Uint8Array) =>
    (await decompress(secrets.openBytes(owner, answer))).toString('utf8'),
});

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];

type Keep = { db: Db; pack: (body: string) => Promise<Buffer | null> };

async function keep({ db, pack }: Keep, claim: ClaimedName, answer: Response) {
  const body = await pack(await answer.clone().text());
  await saveAnswer(db, claim, { status: answer.status, body });
}

function replay(c: Context<ApiEnv>, status: number | null, body: string) {
  c.header('Idempotent-Replayed', 'true');
  c.header('Content-Type', 'application/json');
  return c.body(body, status as ContentfulStatusCode);
}

/** What the name stands for: the same name on another path, or with another body, is a mistake. */
async function hashRequest(c: Context<ApiEnv>): Promise<Buffer> {
  const { pathname, search } = new URL(c.req.url);
  const body = await readBody(c);
  return createHash('sha256').update(`${pathname}${search}\n`).update(body).digest();
}

const malformed = () =>
  new Refusal('invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters', {
    code: 'invalid_idempotency_key',
  });

const differs = () =>
  new Refusal('unprocessable', 'this Idempotency-Key was used for another request', {
    code: 'idempotency_key_reused',
  });

const running = () =>
  new Refusal('conflict', 'a request with this Idempotency-Key is still running, try again', {
    code: 'idempotency_key_running',
    retryInSeconds: 1,
  });

const notStored = (status: number | null) =>
  new Refusal(
    'conflict',
    `a request with this Idempotency-Key has run and was answered with ${status}, but its answer was too large to be stored`,
    { code: 'idempotency_answer_not_stored' },
  );
