import type { Context } from 'hono';
import { Refusal } from '../../errors.ts';
import { isSameText } from '../crypto/same-text.ts';
import { isLocalRequest } from '../http/local.ts';

export type MetricsAccess = {
  token: string | null;
  /** Whether metrics have an address of their own, apart from that of the service. */
  ownAddress: boolean;
  /** Whether a local caller needs no token, because no proxy can be in front of the service. */
  trustsLocal: boolean;
  /** What an operator sets to open them to others. */
  settings: string;
};

/**
 * On the main address, which strangers may reach, metrics are for local callers. A token opens them to
 * others; where a proxy may be in front, every visitor looks local, and local callers need the token too.
 * An address of their own is open to all that the operator lets reach it, unless there is a token.
 */
export function refuseStranger(
  c: Context,
  { token, ownAddress, trustsLocal, settings }: MetricsAccess,
) {
  if (trustsLocal && isLocalRequest(c)) return;
  if (token === null && ownAddress) return;
  if (token === null) {
    throw new Refusal(
      'forbidden',
      trustsLocal
        ? `metrics can be read only on the machine itself, unless ${settings} is set`
        : `metrics can be read once ${settings} is set`,
    );
  }
  const [, given] = /^Bearer +(\S+) *$/i.exec(c.req.header('Authorization') ?? '') ?? [];
  if (given !== undefined && isSameText(given, token)) return;
  c.header('WWW-Authenticate', 'Bearer realm="metrics"');
  throw new Refusal('unauthorized', 'the bearer token for metrics is missing or wrong');
}
