import { randomBytes } from 'node:crypto';
import { isLoopbackHost } from '../lib/http/http-address.ts';
import { type Finding, finding } from './finding.ts';

const patienceMs = 5000;
/** As many as a contact's token has; no contact has this one. */
const tokenBytes = 24;
const mostOfBody = 4096;

/** What came back for the POST that a mail program's unsubscribe button sends. */
export type OneClickFacts =
  | { status: number; location: string | null; ours: boolean }
  | { failed: string };

/**
 * Presses unsubscribe from outside, as RFC 8058 has it: a POST without cookies that follows no redirect. Its
 * token belongs to no contact, so nothing changes; that this very service says so proves the way to it is open.
 */
export async function examineOneClick(publicUrl: string, limitMs = patienceMs): Promise<Finding> {
  const url = `${publicUrl}/u/${randomBytes(tokenBytes).toString('base64url')}`;
  return judgeOneClick(publicUrl, await press(url, limitMs));
}

async function press(url: string, limitMs: number): Promise<OneClickFacts> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
      headers: { Accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(limitMs),
    });
    const ours = response.status === 404 && isOurs(await beginningOf(response));
    await response.body?.cancel().catch(() => {});
    return { status: response.status, location: response.headers.get('Location'), ours };
  } catch (error) {
    return { failed: whyNot(error as Error, limitMs) };
  }
}

/** What the service says of a link that it never gave out. */
function isOurs(body: string): boolean {
  try {
    const { code, error } = JSON.parse(body) as { code?: unknown; error?: unknown };
    return code === 'not_found' && error === 'subscription not found';
  } catch {
    return false;
  }
}

async function beginningOf(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostOfBody) break;
  }
  return text;
}

function whyNot(error: Error, limitMs: number): string {
  if (error.name === 'TimeoutError') return `nothing answered within ${limitMs / 1000} seconds`;
  const { cause } = error as { cause?: Error & { code?: string } };
  const why = cause?.message || cause?.code || error.message;
  return cause?.code === 'ECONNREFUSED' ? `${why}; does the service run?` : why;
}

export function judgeOneClick(publicUrl: string, facts: OneClickFacts): Finding {
  const name = 'unsubscribe URL';
  const at = `${publicUrl}/u/...`;
  const { protocol, hostname } = new URL(publicUrl);
  if ('failed' in facts)
    return finding(name, 'fail', `a POST from here to ${at} fails: ${facts.failed}`);
  const wrong = wrongStatus(facts);
  if (wrong) return finding(name, 'fail', `a POST to ${at} ${wrong}`);
  if (isLoopbackHost(hostname)) {
    const message = `${at} works on this machine only: set ASKBACK_PUBLIC_URL to the address that people see`;
    return finding(name, 'warn', message);
  }
  if (protocol !== 'https:') {
    const message = `${at} is not https: mail programs offer no one-click unsubscribe`;
    return finding(name, 'fail', message);
  }
  return finding(name, 'ok', `a POST to ${at} arrives, without redirect or login`);
}

function wrongStatus({ status, location, ours }: Exclude<OneClickFacts, { failed: string }>) {
  if (ours) return undefined;
  if (status >= 300 && status < 400) {
    return `is redirected to ${location ?? 'nowhere'}, which mail programs do not follow: set ASKBACK_PUBLIC_URL to the final address`;
  }
  if (status === 401 || status === 403 || status === 407) {
    return `is answered ${status}: something in front of askback asks for a login; /u/ must be open to everybody`;
  }
  if (status === 405) {
    return 'is answered 405: something in front of askback lets no POST through';
  }
  if (status >= 500 || status === 429) return `is answered ${status}: the service is not well`;
  return `is answered ${status}, and not by askback: another program has that address`;
}
