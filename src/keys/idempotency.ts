import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { Refusal } from '../errors.ts';
import type { Secrets } from '../lib/crypto/secrets.ts';
import type { Db } from '../lib/db/db.ts';
import { readBody } from '../lib/http/http.ts';
import type { Log } from '../lib/log/log.ts';
import type { ApiEnv } from './authenticate.ts';
import { type Claim, claimName, releaseName, saveAnswer } from './queries.ts';
import { isIdempotencyName, judgeRepeat } from './rules.ts';

/** A request that takes longer than the longest one may, by this much, has died without an answer. */
const marginSeconds = 30;

type Tools = { db: Db; log: Log; secrets: Secrets; settings: { sendDeadlineSeconds: number } };

/**
 * A POST with an Idempotency-Key runs once in 24 hours: a repeat gets the stored answer, which is kept
 * sealed because it may show what is shown once. A fault (5xx) is not stored, so that a repeat can do better.
 */
export const answerOnce = ({ db, log, secrets, settings }: Tools) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    const name = c.req.header('Idempotency-Key');
    if (name === undefined || c.req.method !== 'POST') return await next();
    if (!isIdempotencyName(name)) throw malformed();

    const request = { keyId: c.var.key.id, name, requestHash: await hashRequest(c) };
    const asked = await claimName(db, request, settings.sendDeadlineSeconds + marginSeconds);
    const verdict = judgeRepeat(asked);
    if (verdict === 'differs') throw differs();
    if (verdict === 'running') throw running();
    const owner = { orgId: c.var.key.org_id, id: `${request.keyId} ${name}` };
    if (verdict === 'replay') return replay(c, asked.status, secrets.open(owner, asked.answer!));

    await next();
    const claim = { ...request, claimedAt: asked.claimed_at ?? '' };
    // The work is done: its answer goes out even when it cannot be kept.
    const seal = (body: string) => secrets.seal(owner, body);
    await keep({ db, seal }, claim, c.res).catch((error: unknown) =>
      log.error({ err: error, request_id: c.var.requestId }, 'an answer could not be kept'),
    );
  });

type Keep = { db: Db; seal: (body: string) => Buffer };

async function keep({ db, seal }: Keep, claim: Claim, answer: Response) {
  if (answer.status >= 500) return await releaseName(db, claim);
  const body = seal(await answer.clone().text());
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
