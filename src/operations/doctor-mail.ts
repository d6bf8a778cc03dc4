import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { isLoopbackHost } from '../lib/http/http-address.ts';
import { isForbidden } from '../lib/outbound/connect.ts';
import { mailableAddress } from '../lib/smtp/address.ts';
import { type Connection, type MailOutcome, open } from '../lib/smtp/connection.ts';
import { readSmtpUrl, type SmtpSettings } from '../lib/smtp/settings.ts';
import type { Config } from '../settings.ts';
import {
  addressesOf,
  examineDkim,
  examineDmarc,
  examineMx,
  examinePtr,
  examineSpf,
  type Machines,
  type Resolver,
  unsigned,
} from './doctor-dns.ts';
import { type Finding, finding } from './rules.ts';

type MailQuestions = {
  senders: readonly string[];
  /** The IP addresses that mails leave this network from, where the operator knows them. */
  sendsFrom: readonly string[];
  publicUrl: string | null;
};

type MailSettings = Pick<Config, 'smtpUrl' | 'bounceDomain' | 'dkim'>;
type ExamineMailTools = { dns: Resolver; settings: MailSettings };

const mostDomains = 20;

export async function examineMail(
  tools: ExamineMailTools,
  questions: MailQuestions,
): Promise<Finding[]> {
  const { smtpUrl } = tools.settings;
  const smtp = smtpUrl ? readSmtpUrl(smtpUrl).settings : null;
  const here = [
    smtp ? examineLogin(smtp) : noServer(),
    ...(smtp && questions.publicUrl ? [examineOneClick(questions.publicUrl)] : []),
  ];
  const domains = domainsOf(questions.senders);
  const some = domains.slice(0, mostDomains);
  if (!smtp && domains.length === 0) return await Promise.all(here);
  const machines = await findMachines(tools.dns, questions.sendsFrom, smtp);
  const groups = await Promise.all([
    Promise.all(here),
    Promise.all([examineSigning(tools)]),
    examineReturnPaths({ ...tools, machines }, some),
    ...some.map((domain) => examineSender(tools, domain)),
    Promise.all(machines.certain ? machines.ips.map((ip) => examinePtr(tools.dns, ip)) : []),
  ]);
  return [...groups.flat(), ...complainOfCount(domains.length)];
}

const noServer = () =>
  finding(
    'SMTP',
    'warn',
    'no mail server is configured: mails reach no contact and stay in the built-in mailbox',
  );

function complainOfCount(count: number): Finding[] {
  if (count === 0) {
    const message = 'no survey has a sender yet: name one by --from';
    return [finding('sender', 'warn', message)];
  }
  if (count <= mostDomains) return [];
  return [finding('sender', 'warn', `only ${mostDomains} of ${count} domains were looked at`)];
}

const domainOf = (address: string) => address.slice(address.lastIndexOf('@') + 1);

function domainsOf(senders: readonly string[]): string[] {
  const mailed = senders.flatMap((sender) => mailableAddress(sender) ?? []);
  return [...new Set(mailed.map(domainOf))];
}

/** A domain of the settings in the form that DNS has it. */
const ascii = (domain: string) => domainOf(mailableAddress(`x@${domain}`) ?? domain);

/** The addresses that mails leave from: those that the operator named, else those of the mail server. */
async function findMachines(
  dns: Resolver,
  named: readonly string[],
  smtp: SmtpSettings | null,
): Promise<Machines> {
  const relay = smtp?.host.toLowerCase() ?? null;
  if (named.length > 0) return { ips: named, certain: true, relay };
  const answer = relay && !isIP(relay) ? await addressesOf(dns, relay) : null;
  const ips = relay && isIP(relay) ? [relay] : answer?.kind === 'found' ? answer.records : [];
  return { ips: ips.filter((ip) => !isForbidden(ip, [])), certain: false, relay };
}

async function examineSigning({ dns, settings }: ExamineMailTools): Promise<Finding> {
  if (!settings.dkim) return unsigned();
  const { selector, domain, key } = settings.dkim;
  return await examineDkim(dns, `${selector}._domainkey.${ascii(domain)}`, key);
}

async function examineReturnPaths(
  { dns, settings, machines }: ExamineMailTools & { machines: Machines },
  domains: readonly string[],
): Promise<Finding[]> {
  const paths = settings.bounceDomain ? [ascii(settings.bounceDomain)] : domains;
  const findings = paths.flatMap((domain) => [
    examineSpf(dns, domain, machines),
    ...(settings.bounceDomain ? [examineMx(dns, domain, 'bounces')] : []),
  ]);
  return await Promise.all(findings);
}

async function examineSender(
  { dns, settings: { bounceDomain, dkim } }: ExamineMailTools,
  from: string,
): Promise<Finding[]> {
  const signer = dkim ? ascii(dkim.domain) : null;
  const returnPath = bounceDomain ? ascii(bounceDomain) : from;
  const [policy, mx] = await Promise.all([
    examineDmarc(dns, { from, signer, returnPath }),
    examineMx(dns, from, bounceDomain ? 'replies' : 'bounces and replies'),
  ]);
  return [...policy, mx];
}

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

type LoginFacts = { failure: MailOutcome } | { encrypted: boolean };

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

const oneClickTimeoutMs = 5000;
/** As many as a contact's token has; no contact has this one. */
const tokenBytes = 24;
const mostOfBody = 4096;

type OneClickFacts =
  | { status: number; location: string | null; ours: boolean }
  | { failed: string };

/**
 * Presses unsubscribe from outside, as RFC 8058 has it: a POST without cookies that follows no redirect. Its
 * token belongs to no contact, so nothing changes; that this very service says so proves the way to it is open.
 */
export async function examineOneClick(
  publicUrl: string,
  limitMs = oneClickTimeoutMs,
): Promise<Finding> {
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
