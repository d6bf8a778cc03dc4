import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { Db } from '../lib/db/db.ts';
import { isLoopbackHost } from '../lib/http/http-address.ts';
import { isForbidden } from '../lib/outbound/connect.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { type MailOutcome, open } from '../lib/smtp/connection.ts';
import { readSmtpUrl, type SmtpSettings } from '../lib/smtp/settings.ts';
import type { Config } from '../settings.ts';
import {
  addressesOf,
  createResolver,
  examineDkim,
  examineDmarc,
  examineMx,
  examinePtr,
  examineSpf,
  type Resolver,
} from './doctor-dns.ts';
import { type Finding, finding, findingAbout } from './findings.ts';
import { listSenders } from './queries.ts';

type MailQuestions = {
  senders: readonly string[];
  /** The public IP addresses of outgoing mail, if the operator named them. */
  sendsFrom: readonly string[];
  publicUrl: string | null;
};

type ExamineMailTools = {
  dns: Resolver;
  settings: Pick<Config, 'smtpUrl' | 'bounceDomain' | 'dkim'>;
};

export type SenderTools = {
  db: Db;
  publicUrl: string;
  settings: { bounceDomain: string | null } & Partial<Pick<Config, 'smtpUrl' | 'dkim'>>;
  dns?: Resolver | undefined;
};

/** Examines the senders of one organization, or of all. */
export async function examineSenders(
  { db, publicUrl, settings, dns = createResolver() }: SenderTools,
  orgId: string | null,
) {
  const { bounceDomain, smtpUrl = null, dkim = null } = settings;
  const senders = smtpUrl ? await listSenders(db, orgId) : [];
  return await examineMail(
    { dns, settings: { bounceDomain, smtpUrl, dkim } },
    { senders, sendsFrom: [], publicUrl },
  );
}

const maxDomains = 20;

export async function examineMail(
  { dns, settings }: ExamineMailTools,
  { senders, sendsFrom, publicUrl }: MailQuestions,
): Promise<Finding[]> {
  const { smtpUrl, dkim } = settings;
  const smtp = smtpUrl ? readSmtpUrl(smtpUrl).settings : null;
  const here = [
    smtp ? examineLogin(smtp) : noServer,
    ...(smtp && publicUrl ? [examineOneClick(publicUrl)] : []),
  ];
  const mailable = senders.flatMap((sender) => mailableAddress(sender) ?? []);
  const allDomains = [...new Set(mailable.map(domainOf))];
  const domains = allDomains.slice(0, maxDomains);
  if (!smtp && domains.length === 0) return await Promise.all(here);

  const machines = await findMachines(dns, sendsFrom, smtp);
  const bounceDomain = settings.bounceDomain && ascii(settings.bounceDomain);
  const signer = dkim && ascii(dkim.domain);
  const findings = await Promise.all([
    ...here,
    dkim ? examineDkim(dns, `${dkim.selector}._domainkey.${signer}`, dkim.key) : unsigned,
    ...(bounceDomain ? [bounceDomain] : domains).map((domain) => examineSpf(dns, domain, machines)),
    ...(bounceDomain ? [examineMx(dns, bounceDomain, 'bounces')] : []),
    ...domains.flatMap((from) => [
      examineDmarc(dns, { from, signer, returnPath: bounceDomain ?? from }),
      examineMx(dns, from, bounceDomain ? 'replies' : 'bounces and replies'),
    ]),
    ...(machines.isExact ? machines.ips.map((ip) => examinePtr(dns, ip)) : []),
    ...(domains.length === 0 ? [noSender] : []),
  ]);
  const more = `only ${maxDomains} of ${allDomains.length} domains were checked`;
  if (allDomains.length > maxDomains) findings.push(finding('sender', 'warn', more));
  return findings.flat();
}

const noServer = finding(
  'SMTP',
  'warn',
  'no mail server is configured: emails stay in the built-in mailbox',
);

/** The doctor cannot see signatures that the mail server adds. */
const unsigned = finding(
  'DKIM',
  'warn',
  'askback does not sign emails: unless your mail server does, create a key with `openssl genrsa -out dkim.pem 2048`, set ASKBACK_DKIM_DOMAIN, ASKBACK_DKIM_SELECTOR and ASKBACK_DKIM_KEY_FILE, and run this again for the record to add',
);

const noSender = finding('sender', 'warn', 'no survey has a sender yet: name one with --from');

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1);

/** A configured domain in ASCII, as DNS spells it. */
const ascii = (domain: string) => domainOf(mailableAddress(`x@${domain}`) ?? domain);

/** The addresses of outgoing mail: the ones that the operator named, or else the mail server's. */
async function findMachines(dns: Resolver, named: readonly string[], smtp: SmtpSettings | null) {
  const relay = smtp?.host.toLowerCase() ?? null;
  if (named.length > 0) return { ips: named, isExact: true, relay };
  const answer = relay && !isIP(relay) ? await addressesOf(dns, relay) : null;
  const ips = relay && isIP(relay) ? [relay] : answer?.kind === 'found' ? answer.records : [];
  return { ips: ips.filter((ip) => !isForbidden(ip, [])), isExact: false, relay };
}

const loginTimeoutMs = 8000;
const goodbyeMs = 1000;

/** Connects, encrypts and logs in to the mail server without sending a mail. */
export async function examineLogin(settings: SmtpSettings, limitMs = loginTimeoutMs) {
  const opened = await open({
    ...settings,
    connectTimeoutMs: Math.min(settings.connectTimeoutMs, limitMs),
    silenceTimeoutMs: Math.min(settings.silenceTimeoutMs, limitMs),
    wholeTimeoutMs: Math.min(settings.wholeTimeoutMs, limitMs),
  });
  if ('failure' in opened) {
    return finding(nameOf(settings), 'fail', describeFailure(opened.failure, settings));
  }
  const { smtp } = opened.connection;
  const encrypted = smtp.secure;
  const ended = once(smtp, 'end', { signal: AbortSignal.timeout(goodbyeMs) });
  smtp.quit();
  await ended.catch(() => smtp.close());
  return judgeLogin(settings, { encrypted });
}

const nameOf = ({ host, port }: SmtpSettings) => `SMTP ${host}:${port}`;

export function judgeLogin(settings: SmtpSettings, { encrypted }: { encrypted: boolean }): Finding {
  const { host, auth, tls, verify } = settings;
  const summary = auth ? 'accepts the login' : 'accepts connections without a login';
  if (encrypted) {
    const message = `${summary}, encrypted`;
    return verify
      ? finding(nameOf(settings), 'ok', message)
      : finding(nameOf(settings), 'warn', `${message}, but verify=no lets anyone impersonate it`);
  }
  if (isLoopbackHost(host)) return finding(nameOf(settings), 'ok', summary);
  const data = auth ? 'the password and all emails are' : 'all emails are';
  const message = `${summary}, but ${data} sent unencrypted (tls=${tls})`;
  return finding(nameOf(settings), 'warn', message);
}

const loginCodes = [530, 534, 535, 538];
const noSuchCommand = [454, 500, 502, 503, 504];

function describeFailure(failure: MailOutcome, { auth, tls }: SmtpSettings): string {
  if (failure.kind !== 'refused') {
    return 'reason' in failure ? `cannot be used: ${failure.reason}` : 'cannot be used';
  }
  const { code, response } = failure;
  if (auth && loginCodes.includes(code)) {
    return `rejects the user or the password: ${response}`;
  }
  if (tls === 'required' && noSuchCommand.includes(code)) {
    return `does not support STARTTLS, which tls=required demands: ${response}`;
  }
  return `refuses: ${response}`;
}

const oneClickTimeoutMs = 5000;
/** The length of a contact's token. */
const tokenBytes = 24;

/**
 * Requests one-click unsubscribe as RFC 8058 specifies: a POST without cookies that follows no redirect. The random
 * token belongs to no contact, so nothing changes, and the service's own 404 proves that it is reachable.
 */
export async function examineOneClick(publicUrl: string, limitMs = oneClickTimeoutMs) {
  const at = `${publicUrl}/u/...`;
  const judge = findingAbout('unsubscribe URL');
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = isLoopbackHost(hostname);
  if (protocol !== 'https:' && !isLocal) {
    return judge('fail', `${at} is not https: mail clients offer no one-click unsubscribe`);
  }
  try {
    const response = await fetch(
      `${publicUrl}/u/${randomBytes(tokenBytes).toString('base64url')}`,
      {
        method: 'POST',
        body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
        headers: { Accept: 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(limitMs),
      },
    );
    const wrong = describeResponse(response, await response.text());
    if (wrong) return judge('fail', `a POST to ${at} ${wrong}`);
  } catch (error) {
    return judge(
      'fail',
      `a POST from here to ${at} fails: ${describeError(error as Error, limitMs)}`,
    );
  }
  if (isLocal) {
    const message = `${at} only works on this machine: set ASKBACK_PUBLIC_URL to the public address`;
    return judge('warn', message);
  }
  return judge('ok', `${at} is reachable without redirect or login`);
}

function describeResponse({ status, headers }: Response, body: string): string | undefined {
  // The service's own response to an unknown token.
  if (status === 404 && body.includes('"subscription not found"')) return undefined;
  if (status >= 300 && status < 400) {
    return `is redirected to ${headers.get('Location') ?? 'nowhere'}, which mail clients do not follow: set ASKBACK_PUBLIC_URL to the final address`;
  }
  return `gets ${status}, but not from askback: /u/ must reach it without a login`;
}

function describeError(error: Error, limitMs: number): string {
  if (error.name === 'TimeoutError') return `nothing answered within ${limitMs / 1000} seconds`;
  const { cause } = error as { cause?: Error & { code?: string } };
  const why = cause?.message || cause?.code || error.message;
  return cause?.code === 'ECONNREFUSED' ? `${why}; is the service running?` : why;
}
