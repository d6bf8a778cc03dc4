import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import { isLocalRequest } from '../http/local.ts';

/** Where metrics are shown: on the address of the service, or on one of their own. */
export type Access = { token: string | null; ownAddress: boolean };

/**
 * On the main address, which may be anybody's to reach, metrics are for who asks from this machine. A
 * token opens them to others. An address of their own is for whom the operator lets reach it, and asks
 * for the token if there is one.
 */
export function refuseStranger(c: Context, { token, ownAddress }: Access) {
  if (isLocalRequest(c)) return;
  if (token === null && ownAddress) return;
  if (token === null) {
    throw new Refusal(
      'forbidden',
      'metrics can be read only on the machine itself, unless ASKBACK_METRICS_TOKEN or ASKBACK_METRICS_LISTEN is set',
    );
  }
  const [, given] = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '') ?? [];
  if (given !== undefined && isSame(given, token)) return;
  c.header('WWW-Authenticate', 'Bearer realm="metrics"');
  throw new Refusal('unauthorized', 'the bearer token for metrics is missing or wrong');
}

/** Takes the same time whatever was given, also for another length. */
const isSame = (given: string, token: string) => timingSafeEqual(digest(given), digest(token));

const digest = (text: string) => createHash('sha256').update(text).digest();
