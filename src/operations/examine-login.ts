import { once } from 'node:events';
import { isLoopbackHost } from '../lib/http/http-address.ts';
import { type Connection, open } from '../lib/smtp/connection.ts';
import type { MailOutcome } from '../lib/smtp/outcome.ts';
import type { SmtpSettings } from '../lib/smtp/settings.ts';
import { type Finding, finding } from './finding.ts';

const patienceMs = 8000;
const goodbyeMs = 1000;

/** Connects, encrypts and logs in as a mail would be sent, and leaves again without one. */
export async function examineLogin(settings: SmtpSettings, limitMs = patienceMs): Promise<Finding> {
  const sooner = (ms: number) => Math.min(ms, limitMs);
  const opened = await open({
    ...settings,
    connectTimeoutMs: sooner(settings.connectTimeoutMs),
    silenceTimeoutMs: sooner(settings.silenceTimeoutMs),
    wholeTimeoutMs: sooner(settings.wholeTimeoutMs),
  });
  if ('failure' in opened) return judgeLogin(settings, { failure: opened.failure });
  const { smtp } = opened.connection;
  const encrypted = smtp.secure;
  await leave(smtp);
  return judgeLogin(settings, { encrypted });
}

/** Says goodbye, so that the server need not wonder; one that does not answer even that is left. */
async function leave(smtp: Connection['smtp']) {
  const ended = once(smtp, 'end', { signal: AbortSignal.timeout(goodbyeMs) });
  smtp.quit();
  await ended.catch(() => smtp.close());
}

export type LoginFacts = { failure: MailOutcome } | { encrypted: boolean };

export function judgeLogin(settings: SmtpSettings, facts: LoginFacts): Finding {
  const name = `SMTP ${settings.host}:${settings.port}`;
  if ('failure' in facts) return finding(name, 'fail', sentenceFor(facts.failure, settings));
  const done = settings.auth ? 'takes the login' : 'takes connections, without a login';
  if (!facts.encrypted) {
    const risk = settings.auth ? 'the password and every mail go' : 'every mail goes';
    const message = `${done}; but ${risk} over the network unencrypted (tls=${settings.tls})`;
    return finding(
      name,
      isLoopbackHost(settings.host) ? 'ok' : 'warn',
      isLoopbackHost(settings.host) ? done : message,
    );
  }
  if (!settings.verify) {
    return finding(name, 'warn', `${done}, encrypted; but verify=no lets anybody pose as it`);
  }
  return finding(name, 'ok', `${done}, encrypted`);
}

function sentenceFor(failure: MailOutcome, { auth, tls }: SmtpSettings): string {
  if (failure.kind !== 'refused') {
    return 'reason' in failure ? `cannot be used: ${failure.reason}` : 'cannot be used';
  }
  return `${whatWasRefused(failure.code, { auth, tls })}: ${failure.response}`;
}

function whatWasRefused(code: number, { auth, tls }: Pick<SmtpSettings, 'auth' | 'tls'>): string {
  if (auth && loginCodes.has(code)) return 'does not accept the user or the password';
  if (tls === 'required' && noSuchCommand.has(code)) {
    return 'does not encrypt by STARTTLS, as tls=required asks for';
  }
  return 'refuses';
}

const loginCodes = new Set([530, 534, 535, 538]);
const noSuchCommand = new Set([454, 500, 502, 503, 504]);
