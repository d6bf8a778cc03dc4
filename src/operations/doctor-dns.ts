import { createPrivateKey, createPublicKey } from 'node:crypto';
import { Resolver as NodeResolver } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { DMARCResult, DNSResolver } from 'mailauth';
import { withinMs } from '../lib/async/deadline.ts';
import { type DnsRecord, type Finding, finding, findingAbout } from './findings.ts';

export type Machines = {
  ips: readonly string[];
  /** The operator named the addresses. A relay may send from addresses that it does not listen on. */
  isExact: boolean;
  relay: string | null;
};

/** Relays that document which SPF include to use. */
const includes: readonly [relay: RegExp, include: string][] = [
  [/(^|\.)(google|gmail|googlemail)\.com$/, '_spf.google.com'],
  [/(^|\.)(office365|outlook)\.com$/, 'spf.protection.outlook.com'],
  [/^email-smtp\.[a-z0-9-]+\.amazonaws\.com$/, 'amazonses.com'],
  [/(^|\.)sendgrid\.net$/, 'sendgrid.net'],
  [/(^|\.)mailgun\.org$/, 'mailgun.org'],
];

/** An address that no record names, to see how a receiver judges an unknown sender. */
const unknownSender = '0.0.0.0';
const maxLookups = 10;

/** Judges the SPF record (RFC 7208) of the return address's domain. */
export async function examineSpf(dns: Resolver, domain: string, { ips, isExact, relay }: Machines) {
  const judge = findingAbout(`SPF ${domain}`);
  const include = isExact ? undefined : includes.find(([form]) => form.test(relay ?? ''))?.[1];
  const termsFor = (addresses: readonly string[]) =>
    include
      ? [`include:${include}`]
      : addresses.map((ip) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`);
  const recordOf = (action: DnsRecord['action'], terms: readonly string[]): DnsRecord[] => [
    { action, name: domain, type: 'TXT', value: terms.join(' ') },
  ];

  const answer = await dns('TXT', domain);
  if (answer.kind === 'failed') return judge('fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind === 'no_name') {
    return judge('fail', 'the domain does not exist in DNS: no server accepts mail from it');
  }
  const records = recordsOf(answer).filter((text) => /^v=spf1( |$)/i.test(text));
  const [record] = records;
  if (record === undefined) {
    const message =
      'there is no SPF record: receivers cannot distinguish your emails from forged ones';
    const terms = termsFor(ips);
    if (terms.length > 0) {
      return judge('fail', message, recordOf('add', ['v=spf1', ...terms, '~all']));
    }
    const hint = 'to see which record to add, name the sending addresses';
    return judge('fail', `${message}; ${hint} with --sends-from`);
  }
  if (records.length > 1) {
    const message = `there are ${records.length} records, and receivers ignore them all: keep only one`;
    return judge('fail', message);
  }

  const { spf } = await import('mailauth/lib/spf/index.js');
  const options = { helo: hostname(), resolver: nodeResolve(dns), strict: true };
  const check = (ip: string) => spf({ ...options, sender: `postmaster@${domain}`, ip });
  const { status, lookups } = await check(unknownSender);
  const count = lookups?.count ?? 0;
  const why = /during lookup of \S+: (.+)$/s.exec(status.comment ?? '')?.[1] ?? '';
  if (count > maxLookups) {
    const message = `the record needs more than ${maxLookups} lookups, so receivers give up: replace includes with addresses, or remove former senders`;
    return judge('fail', message);
  }
  if (status.result === 'permerror') return judge('fail', `receivers ignore the record: ${why}`);
  if (status.result === 'temperror') return judge('fail', `the record cannot be evaluated: ${why}`);

  const [version = '', ...terms] = record.split(' ').filter((term) => term !== '');
  const all = terms.find((term) => /^[-+~?]?all$/i.test(term)) ?? '';
  if (/^\+?all$/i.test(all)) return judge('fail', '+all lets anyone send in your name');
  const judgeAll = (good: string) =>
    /^(\?all)?$/i.test(all) && !terms.some((term) => /^redirect=/i.test(term))
      ? judge('warn', `${good}, but it does not restrict other senders: end it with ~all or -all`)
      : judge('ok', good);
  const cost = `${count} of ${maxLookups} lookups`;
  if (include) {
    return terms.some((term) => term.toLowerCase().replace(/^\+/, '') === `include:${include}`)
      ? judgeAll(`lets ${relay} (include:${include}) send, ${cost}`)
      : judge(
          'warn',
          `the record does not include the addresses of ${relay}`,
          recordOf('change', [version, ...termsFor(ips), ...terms]),
        );
  }
  if (ips.length === 0) {
    const unseen = 'to check whether it allows your mail server, use --sends-from';
    return judgeAll(`is well-formed, ${cost}; ${unseen}`);
  }
  const results = await Promise.all(
    ips.map(async (ip) => ({ ip, result: (await check(ip)).status.result })),
  );
  const refused = results.filter(({ result }) => result !== 'pass');
  if (refused.length === 0) return judgeAll(`lets ${ips.join(', ')} send, ${cost}`);
  const refusedIps = refused.map(({ ip }) => ip);
  const change = recordOf('change', [version, ...termsFor(isExact ? refusedIps : ips), ...terms]);
  if (isExact) {
    const senders = refused.map(({ ip, result }) => `${ip} (${result})`).join(', ');
    return judge('fail', `the record does not let ${senders} send`, change);
  }
  const message = `the record does not allow ${refusedIps.join(', ')}, the address of ${relay}; if emails are sent from elsewhere, use --sends-from`;
  return judge('warn', message, change);
}

type DmarcParties = {
  from: string;
  /** The DKIM domain; null if askback does not sign. */
  signer: string | null;
  /** The domain of the return address, which SPF checks. */
  returnPath: string;
};

/** Judges the DMARC policy (RFC 9989) of the From domain, and its alignment with DKIM and SPF. */
export async function examineDmarc(dns: Resolver, parties: DmarcParties): Promise<Finding[]> {
  const { from, signer, returnPath } = parties;
  const judge = findingAbout(`DMARC ${from}`);
  const policies = new Map<string, string[]>();
  const resolve = nodeResolve(dns);
  const { dmarc } = await import('mailauth/lib/dmarc/index.js');
  const result = await dmarc({
    headerFrom: `postmaster@${from}`,
    spfDomains: [returnPath],
    dkimDomains: signer === null ? [] : [{ domain: signer }],
    // Keep the records that mailauth reads, because it silently ignores duplicates.
    async resolver(name, type) {
      const domain = /^_dmarc\.(.+)$/.exec(name)?.[1];
      if (type !== 'TXT' || !domain) return await resolve(name, type);
      const answer = resolve(name, type) as Promise<string[]>;
      // Ignore failures of a top-level domain, which the domain's owner cannot fix.
      const texts = domain.includes('.') ? await answer : await answer.catch(() => []);
      const records = texts.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/i.test(text));
      if (records.length > 0) policies.set(domain, records);
      return texts;
    },
  });
  if (!result) return [judge('fail', 'mail cannot come from this domain')];
  if (!result.policyDomain && result.error) return [judge('fail', result.error)];
  const above = [...policies].filter(([domain]) => `.${from}`.endsWith(`.${domain}`));
  const several = above.find(([, texts]) => texts.length > 1);
  if (several) {
    const message = `_dmarc.${several[0]} has ${several[1].length} records, and receivers ignore them all: keep only one`;
    return [judge('fail', message)];
  }
  const policy = above.find(([domain]) => domain === result.policyDomain) ?? above[0];
  if (!policy) {
    const message = 'there is no DMARC record: large mailbox providers reject many such emails';
    const value = 'v=DMARC1; p=none';
    return [
      judge('fail', message, [{ action: 'add', name: `_dmarc.${from}`, type: 'TXT', value }]),
    ];
  }
  const [domain] = policy;
  const where = domain === from ? 'its record' : `the record of ${domain}`;
  if (!result.policyDomain) {
    const message = `receivers ignore ${where}: p, sp and np must be none, quarantine or reject`;
    return [judge('fail', message)];
  }
  return [
    judge('ok', `${where} says ${result.policy}: ${meanings[result.policy]}`),
    judgeAlignment(parties, result),
  ];
}

const meanings: Readonly<Record<string, string>> = {
  none: 'forged emails in your name are still delivered',
  quarantine: 'forged emails in your name are treated as spam',
  reject: 'forged emails in your name are rejected',
};

/** DKIM or SPF must align with the From domain. One of them is enough. */
function judgeAlignment(
  { from, signer, returnPath }: DmarcParties,
  { alignment, domain, error }: DMARCResult,
): Finding {
  const judge = findingAbout(`alignment ${from}`);
  const byDkim = alignment.dkim.result !== undefined;
  const bySpf = alignment.spf.result !== undefined;
  if (error && !byDkim && !bySpf) return judge('fail', error);
  const word = (strict: boolean) => (strict ? 'strict' : 'relaxed');
  const dkim = `the signature of ${signer} (adkim ${word(alignment.dkim.strict)})`;
  const spf = `the return address at ${returnPath} (aspf ${word(alignment.spf.strict)})`;
  const sign = `set ASKBACK_DKIM_DOMAIN to ${alignment.dkim.strict ? from : `${domain} or a name under it`}`;
  if (byDkim && bySpf) return judge('ok', `${dkim} and ${spf} are aligned`);
  if (byDkim) return judge('ok', `${dkim} is aligned, which is enough; ${spf} is not`);
  if (bySpf) {
    const alone = `only ${spf} is aligned, which fails when an email is forwarded`;
    return signer ? judge('warn', `${alone}: ${sign}`) : judge('ok', alone);
  }
  if (signer) {
    const message = `neither ${dkim} nor ${spf} is aligned, so every email fails DMARC: ${sign}`;
    return judge('fail', message);
  }
  const message = `${spf} is not aligned, and askback does not sign: unless your mail server signs as ${from}, every email fails DMARC`;
  return judge('warn', message);
}

const minBits = 2048;

/** Compares the public key in DNS (RFC 6376) with the private key that signs mails. */
export async function examineDkim(dns: Resolver, at: string, pem: string): Promise<Finding> {
  const judge = (status: Finding['status'], message: string, action?: DnsRecord['action']) => {
    const records = action && [
      { action, name: at, type: 'TXT' as const, value: dkimRecordFor(pem) },
    ];
    return finding(`DKIM ${at}`, status, message, records);
  };
  const answer = await dns('TXT', at);
  if (answer.kind === 'failed') return judge('fail', `cannot be looked up: ${answer.why}`);
  const [text, ...others] = recordsOf(answer);
  if (text === undefined) {
    const message = 'there is no such record in DNS: receivers cannot verify your signatures';
    return judge('fail', message, 'add');
  }
  if (others.length > 0) {
    const message = `there are ${others.length + 1} records, and receivers pick any of them: keep only one`;
    return judge('fail', message, 'change');
  }
  if (/(^|;)\s*p\s*=\s*(;|$)/.test(text)) {
    return judge('fail', 'the key was revoked (p= is empty)', 'change');
  }
  const { getPublicKey } = await import('mailauth/lib/tools.js');
  const options = { strict: true, hashAlgo: 'sha256' };
  try {
    const published = await getPublicKey('DKIM', 'key', 1, async () => [text], options);
    if (!createPublicKey(published.publicKey).equals(createPublicKey(createPrivateKey(pem)))) {
      const message = 'the record does not contain the key that signs your emails';
      return judge('fail', message, 'change');
    }
    if (published.testing) {
      const message =
        'the record is in testing mode (t=y): receivers treat your emails as unsigned';
      return judge('warn', message, 'change');
    }
    const good = `the public key is published, RSA ${published.modulusLength} bits`;
    if (published.modulusLength >= minBits) return judge('ok', good);
    return judge('warn', `${good}: use ${minBits} bits, with a new selector`, 'change');
  } catch (error) {
    return judge('fail', `the record is wrong: ${(error as Error).message}`, 'change');
  }
}

export const dkimRecordFor = (pem: string) =>
  `v=DKIM1; k=rsa; p=${createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }).toString('base64')}`;

/**
 * Judges how mail reaches a domain. Many servers reject mail from domains that they cannot reply to. `what` names the
 * mail in findings: bounces, or replies.
 */
export async function examineMx(dns: Resolver, domain: string, what: string): Promise<Finding> {
  const judge = findingAbout(`MX ${domain}`);
  const answer = await dns('MX', domain);
  if (answer.kind === 'failed') return judge('fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind === 'no_name') {
    return judge('fail', `the domain does not exist in DNS: ${what} do not arrive`);
  }
  const exchanges = recordsOf(answer).map(({ exchange }) => exchange);
  if (exchanges.some((exchange) => exchange === '' || exchange === '.')) {
    return judge('fail', `the domain accepts no mail (null MX): ${what} are lost`);
  }
  const hosts = exchanges.length > 0 ? exchanges : [domain];
  const names = hosts.join(', ');
  const answers = await Promise.all(hosts.map((host) => addressesOf(dns, host)));
  const addresses = answers.flatMap(recordsOf);
  const failed = answers.find(({ kind }) => kind === 'failed');
  if (addresses.length === 0 && failed?.kind === 'failed') {
    return judge('fail', `${names} cannot be looked up: ${failed.why}`);
  }
  if (exchanges.length > 0) {
    return addresses.length > 0
      ? judge('ok', `${what} go to ${names}`)
      : judge('fail', `${names} has no address: ${what} do not arrive`);
  }
  if (addresses.length === 0) {
    return judge('fail', `there is neither an MX record nor an address: ${what} do not arrive`);
  }
  const message = `there is no MX record: ${what} go to ${addresses.join(', ')}, if a mail server listens there`;
  return judge('warn', message);
}

/** Checks that the address of outgoing mail has a name that resolves back to it. */
export async function examinePtr(dns: Resolver, ip: string): Promise<Finding> {
  const judge = findingAbout(`PTR ${ip}`);
  const answer = await dns('PTR', ip);
  if (answer.kind === 'failed') return judge('warn', `cannot be looked up: ${answer.why}`);
  const names = recordsOf(answer);
  if (names.length === 0) {
    const message =
      'the address has no reverse DNS name, and many servers reject such senders: ask its provider to set one';
    return judge('fail', message);
  }
  for (const name of names) {
    if (recordsOf(await addressesOf(dns, name)).includes(ip))
      return judge('ok', `${name} resolves back to it`);
  }
  const message = `its name ${names.join(', ')} does not resolve back to it: add this address to that name`;
  return judge('fail', message);
}

export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** The name exists, without a record of this type. */
  | { kind: 'nothing' }
  | { kind: 'no_name' }
  | { kind: 'failed'; why: string };

const recordsOf = <T>(answer: DnsAnswer<T>): T[] => (answer.kind === 'found' ? answer.records : []);

type Records = {
  A: string;
  AAAA: string;
  MX: { exchange: string; priority: number };
  /** Queried by IP address. */
  PTR: string;
  TXT: string;
};
type RecordType = keyof Records;

export type Resolver = <T extends RecordType>(
  type: T,
  name: string,
) => Promise<DnsAnswer<Records[T]>>;

const defaultTimeoutMs = 3000;
/** Per try: the timeout leaves room for a second try, in case a packet is lost. */
const tryMs = 1200;

export function createResolver({
  server,
  timeoutMs = defaultTimeoutMs,
}: {
  server?: string | undefined;
  timeoutMs?: number;
} = {}): Resolver {
  const dns = new NodeResolver({ timeout: Math.min(tryMs, timeoutMs), tries: 2 });
  if (server) dns.setServers([server]);
  const timeoutText = `no name server answered within ${timeoutMs / 1000} seconds`;

  async function resolve(type: RecordType, name: string): Promise<unknown[]> {
    if (type === 'PTR') return await dns.reverse(name);
    if (type !== 'TXT') return (await dns.resolve(name, type)) as unknown[];
    return (await dns.resolveTxt(name)).map((parts) => parts.join(''));
  }

  async function query(type: RecordType, name: string): Promise<DnsAnswer<unknown>> {
    try {
      const records = await withinMs(resolve(type, name), timeoutMs, () => undefined);
      return records ? { kind: 'found', records } : { kind: 'failed', why: timeoutText };
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      if (code === 'ENOTFOUND') return { kind: 'no_name' };
      if (code === 'ENODATA') return { kind: 'nothing' };
      if (code === 'ETIMEOUT') return { kind: 'failed', why: timeoutText };
      return { kind: 'failed', why: reasons[code] ?? `DNS says ${code}` };
    }
  }

  return query as Resolver;
}

const reasons: Readonly<Record<string, string>> = {
  ESERVFAIL: 'its name servers fail (SERVFAIL): they are down, or its DNSSEC is broken',
  EREFUSED: 'the name server refuses to answer (REFUSED)',
  ECONNREFUSED: 'the name server is unreachable',
  EBADRESP: 'the name server sent an invalid response',
  EBADNAME: 'the name is invalid',
};

export async function addressesOf(dns: Resolver, name: string): Promise<DnsAnswer<string>> {
  const answers = await Promise.all([dns('A', name), dns('AAAA', name)]);
  const records = answers.flatMap(recordsOf);
  if (records.length > 0) return { kind: 'found', records };
  return answers.find(({ kind }) => kind === 'failed') ?? answers[0];
}

/** Adapts the resolver to Node's `dns.resolve`, which mailauth expects. */
const nodeResolve =
  (dns: Resolver): DNSResolver =>
  async (name, type) => {
    const answer = await dns(type as RecordType, name);
    if (answer.kind === 'found') return answer.records as string[];
    if (answer.kind === 'failed') throw new Error(`${name} cannot be looked up: ${answer.why}`);
    const code = answer.kind === 'nothing' ? 'ENODATA' : 'ENOTFOUND';
    throw Object.assign(new Error(`${name} is not in DNS`), { code });
  };
