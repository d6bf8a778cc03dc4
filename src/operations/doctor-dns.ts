import { createPrivateKey, createPublicKey } from 'node:crypto';
import { Resolver as NodeResolver } from 'node:dns/promises';
import { hostname } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { DMARCResult, DNSResolver } from 'mailauth';
import { deadline } from '../lib/async/deadline.ts';
import { type DnsRecord, type Finding, finding } from './rules.ts';

export type Machines = {
  ips: readonly string[];
  /** The operator named the addresses. Those of a relay may be only where it listens. */
  certain: boolean;
  relay: string | null;
};

/** Relays whose own documentation says what to include. */
const includes: readonly [relay: RegExp, include: string][] = [
  [/(^|\.)(google|gmail|googlemail)\.com$/, '_spf.google.com'],
  [/(^|\.)(office365|outlook)\.com$/, 'spf.protection.outlook.com'],
  [/^email-smtp\.[a-z0-9-]+\.amazonaws\.com$/, 'amazonses.com'],
  [/(^|\.)sendgrid\.net$/, 'sendgrid.net'],
  [/(^|\.)mailgun\.org$/, 'mailgun.org'],
];

/** No machine has this address: what it gets is what a receiver makes of a sender that the record does not name. */
const stranger = '0.0.0.0';
const maxLookups = 10;

/** Judges the SPF record (RFC 7208) of the domain that receivers ask: that of the return address. */
export async function examineSpf(
  dns: Resolver,
  domain: string,
  machines: Machines,
): Promise<Finding> {
  const name = `SPF ${domain}`;
  const answer = await dns('TXT', domain);
  if (answer.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind === 'no_name') {
    return finding(name, 'fail', 'the domain does not exist in DNS: no server takes mail from it');
  }
  const texts = answer.kind === 'found' ? answer.records : [];
  const records = texts.filter((text) => /^v=spf1( |$)/i.test(text));
  const [record] = records;
  if (record === undefined) return judgeMissing(name, domain, machines);
  if (records.length > 1) {
    const message = `there are ${records.length} records, and receivers refuse to choose: leave one of them`;
    return finding(name, 'fail', message);
  }
  const { result, why, lookups } = await check(dns, domain, stranger);
  const terms = record.split(' ').filter((term) => term !== '');
  const mistake = mistakeIn(terms, { result, why, lookups });
  if (mistake) return finding(name, 'fail', mistake);
  return await judgeMachines(dns, { name, domain, terms, lookups }, machines);
}

async function check(dns: Resolver, domain: string, ip: string) {
  const { spf } = await import('mailauth/lib/spf/index.js');
  const sender = `postmaster@${domain}`;
  const options = { helo: hostname(), resolver: nodeResolve(dns), strict: true };
  const { status, lookups } = await spf({ ...options, sender, ip });
  const why = /during lookup of \S+: (.+)$/s.exec(status.comment ?? '')?.[1] ?? '';
  return { result: status.result, why, lookups: lookups?.count ?? 0 };
}

type Check = Awaited<ReturnType<typeof check>>;

function judgeMissing(name: string, domain: string, machines: Machines): Finding {
  const terms = termsFor(machines, machines.ips);
  const message =
    'there is no SPF record: receivers cannot distinguish your mails from forged ones';
  if (terms.length === 0) {
    return finding(
      name,
      'fail',
      `${message}; to see which record to add, name the addresses that mails leave from by --sends-from`,
    );
  }
  return finding(name, 'fail', message, [entry('add', domain, ['v=spf1', ...terms, '~all'])]);
}

const entry = (action: DnsRecord['action'], name: string, terms: readonly string[]): DnsRecord => ({
  action,
  name,
  type: 'TXT',
  value: terms.join(' '),
});

function termsFor({ certain, relay }: Machines, ips: readonly string[]): string[] {
  const include = certain ? undefined : includeOf(relay);
  if (include) return [`include:${include}`];
  return ips.map((ip) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`);
}

const includeOf = (relay: string | null) => includes.find(([form]) => form.test(relay ?? ''))?.[1];

function mistakeIn(terms: readonly string[], { result, why, lookups }: Check): string | undefined {
  if (lookups > maxLookups) {
    return `the record takes more than ${maxLookups} lookups, and receivers give up then: replace includes by addresses, or leave out what no longer sends`;
  }
  if (result === 'permerror') return `receivers ignore the record: ${why}`;
  if (result === 'temperror') return `the record cannot be followed: ${why}`;
  return /^\+?all$/i.test(allOf(terms) ?? '')
    ? '+all lets the whole world send in your name'
    : undefined;
}

const allOf = (terms: readonly string[]) => terms.find((term) => /^[-+~?]?all$/i.test(term));

type SpfRecord = { name: string; domain: string; terms: readonly string[]; lookups: number };

async function judgeMachines(
  dns: Resolver,
  record: SpfRecord,
  machines: Machines,
): Promise<Finding> {
  const { terms, lookups } = record;
  const { ips, certain, relay } = machines;
  const cost = `${lookups} of ${maxLookups} lookups`;
  const include = certain ? undefined : includeOf(relay);
  if (
    include &&
    terms.some((term) => /^\+?include:(.*)/i.exec(term)?.[1]?.toLowerCase() === include)
  ) {
    return judgeRest(record, `lets ${relay} (include:${include}) send, ${cost}`);
  }
  if (!include && ips.length === 0) {
    const unseen =
      'whether it names your mail server cannot be seen from here: ask with --sends-from';
    return judgeRest(record, `is well-formed, ${cost}; ${unseen}`);
  }
  const hosts = await Promise.all(
    ips.map(async (ip) => ({ ip, result: (await check(dns, record.domain, ip)).result })),
  );
  const refused = hosts.filter(({ result }) => result !== 'pass');
  if (!include && refused.length === 0) {
    return judgeRest(record, `lets ${ips.join(', ')} send, ${cost}`);
  }
  return judgeRefused(record, machines, refused);
}

function judgeRest({ name, terms }: SpfRecord, good: string): Finding {
  if (terms.some((term) => /^[-+~?]?ptr(:|$)/i.test(term))) {
    const message = `${good}; but ptr is no longer honoured everywhere: name addresses instead`;
    return finding(name, 'warn', message);
  }
  const redirects = terms.some((term) => /^redirect=/i.test(term));
  if (!redirects && /^(\?all)?$/i.test(allOf(terms) ?? '')) {
    const message = `${good}; but it says nothing about other senders: end it with ~all or -all`;
    return finding(name, 'warn', message);
  }
  return finding(name, 'ok', good);
}

function judgeRefused(
  { name, domain, terms }: SpfRecord,
  machines: Machines,
  refused: readonly { ip: string; result: string }[],
): Finding {
  const { ips, certain, relay } = machines;
  const [version = '', ...rest] = terms;
  const missing = termsFor(machines, certain ? refused.map(({ ip }) => ip) : ips);
  const change = entry('change', domain, [version, ...missing, ...rest]);
  if (certain) {
    const senders = refused.map(({ ip, result }) => `${ip} (${result})`).join(', ');
    return finding(name, 'fail', `the record does not let ${senders} send`, [change]);
  }
  const message = includeOf(relay)
    ? `the record does not include what ${relay} sends from`
    : `the record does not name ${refused.map(({ ip }) => ip).join(', ')}, where ${relay} is; if mails leave from elsewhere, ask with --sends-from`;
  return finding(name, 'warn', message, [change]);
}

type DmarcParties = {
  from: string;
  /** The domain that DKIM signs as; null when askback signs nothing. */
  signer: string | null;
  /** The domain of the return address, which is the one that SPF is about. */
  returnPath: string;
};

/** Judges the DMARC policy (RFC 9989) of the From domain, and its alignment with DKIM and SPF. */
export async function examineDmarc(dns: Resolver, parties: DmarcParties): Promise<Finding[]> {
  const { from, signer, returnPath } = parties;
  const name = `DMARC ${from}`;
  const records: PolicyRecords = new Map();
  const { dmarc } = await import('mailauth/lib/dmarc/index.js');
  const result = await dmarc({
    headerFrom: `postmaster@${from}`,
    spfDomains: [returnPath],
    dkimDomains: signer === null ? [] : [{ domain: signer }],
    resolver: collectPolicies(nodeResolve(dns), records),
  });
  if (!result) return [finding(name, 'fail', 'the domain is not one that mail can come from')];
  if (!result.policyDomain && result.error) return [finding(name, 'fail', result.error)];
  const above = [...records].filter(([domain]) => `.${from}`.endsWith(`.${domain}`));
  const [several] = above.filter(([, texts]) => texts.length > 1);
  if (several) {
    const message = `_dmarc.${several[0]} has ${several[1].length} records, and receivers ignore them all: leave one`;
    return [finding(name, 'fail', message)];
  }
  const record = above.find(([domain]) => domain === result.policyDomain) ?? above[0];
  if (!record) return [noRecord(name, from)];
  const [domain, [text = '']] = record;
  const where = domain === from ? 'its record' : `the record of ${domain}`;
  const mistakes = mistakesIn(text);
  const alignment = result.policyDomain ? judgeAlignment(parties, result) : [];
  if (mistakes.length > 0 || !result.policyDomain) {
    const message = `${where} is wrong: ${mistakes.join('; ') || 'receivers ignore it'}`;
    return [finding(name, 'fail', message), ...alignment];
  }
  const message = `${where} says ${result.policy}: ${meaning[result.policy]}`;
  return [finding(name, 'ok', message), ...alignment];
}

type PolicyRecords = Map<string, string[]>;

/** Keeps the records that mailauth reads: it ignores several of one name without a word. */
function collectPolicies(resolve: DNSResolver, records: PolicyRecords): DNSResolver {
  return async (name, type) => {
    const domain = /^_dmarc\.(.+)$/.exec(name)?.[1];
    if (type !== 'TXT' || !domain) return await resolve(name, type);
    const answer = resolve(name, type) as Promise<string[]>;
    // The owner of a domain cannot mend a top-level domain whose servers fail, and needs no policy of it.
    const texts = domain.includes('.') ? await answer : await answer.catch(() => []);
    const policies = texts.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/i.test(text));
    if (policies.length > 0) records.set(domain, policies);
    return texts;
  };
}

const noRecord = (name: string, from: string) =>
  finding(
    name,
    'fail',
    'there is no DMARC record: large mailbox providers refuse such mails in numbers',
    [{ action: 'add', name: `_dmarc.${from}`, type: 'TXT', value: 'v=DMARC1; p=none' }],
  );

const meaning: Readonly<Record<string, string>> = {
  none: 'mails forged in your name are delivered all the same',
  quarantine: 'mails forged in your name are taken for spam',
  reject: 'mails forged in your name are refused',
};

const policy = [/^(none|quarantine|reject)$/i, 'must be none, quarantine or reject'] as const;
const strictness = [/^[rs]$/i, 'must be r or s'] as const;
const uri = '[a-z][a-z0-9+.-]*:[^\\s,]+';
const tags = {
  p: policy,
  sp: policy,
  np: policy,
  adkim: strictness,
  aspf: strictness,
  rua: [
    new RegExp(`^${uri}(\\s*,\\s*${uri})*$`, 'i'),
    'must be an address such as mailto:dmarc@example.com',
  ],
} as const;

/** The mistakes that mailauth passes over, as most receivers do. */
function mistakesIn(text: string): string[] {
  const pairs = text.split(';').map((part) => part.split('=').map((word) => word.trim()));
  const values = new Map(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value]));
  const wrong = Object.entries(tags).flatMap(([name, [form, must]]) => {
    const value = values.get(name);
    return value === undefined || form.test(value) ? [] : `${name}=${shorten(value)} ${must}`;
  });
  return values.has('p') ? wrong : ['p= is missing', ...wrong];
}

const maxQuote = 60;

function shorten(text: string): string {
  const letters = [...text.toWellFormed().replace(/[\p{Cc}\s]+/gu, ' ')];
  return letters.length > maxQuote ? `${letters.slice(0, maxQuote).join('')}...` : letters.join('');
}

/** DKIM or SPF must vouch for the domain that readers see. One of them is enough. */
function judgeAlignment(parties: DmarcParties, result: DMARCResult): Finding[] {
  const { from, signer, returnPath } = parties;
  const { alignment, domain: organization, error } = result;
  const name = `alignment ${from}`;
  const byDkim = alignment.dkim.result !== undefined;
  const bySpf = alignment.spf.result !== undefined;
  if (error && !byDkim && !bySpf) return [finding(name, 'fail', error)];
  const word = (strict: boolean) => (strict ? 'strict' : 'relaxed');
  const dkim = `the signature of ${signer} (adkim ${word(alignment.dkim.strict)})`;
  const spf = `the return address at ${returnPath} (aspf ${word(alignment.spf.strict)})`;
  const sign = `set ASKBACK_DKIM_DOMAIN to ${alignment.dkim.strict ? from : `${organization} or a name under it`}`;
  if (byDkim) {
    const message = bySpf
      ? `${dkim} and ${spf} both speak for it`
      : `${dkim} speaks for it; ${spf} does not, which is enough`;
    return [finding(name, 'ok', message)];
  }
  if (bySpf) {
    const alone = `only ${spf} speaks for it, and that is lost when a mail is forwarded`;
    return [signer ? finding(name, 'warn', `${alone}: ${sign}`) : finding(name, 'ok', alone)];
  }
  if (!signer) {
    const message = `${spf} does not speak for it, and askback signs nothing: unless your mail server signs as ${from}, every mail fails DMARC`;
    return [finding(name, 'warn', message)];
  }
  const message = `neither ${dkim} nor ${spf} speak for it, so every mail fails DMARC: ${sign}`;
  return [finding(name, 'fail', message)];
}

const goodBits = 2048;

/** Nothing is signed here. A mail server that signs cannot be seen. */
export const unsigned = () =>
  finding(
    'DKIM',
    'warn',
    'askback signs nothing: unless your mail server signs, make a key by `openssl genrsa -out dkim.pem 2048`, set ASKBACK_DKIM_DOMAIN, ASKBACK_DKIM_SELECTOR and ASKBACK_DKIM_KEY_FILE, and ask again for the record to add',
  );

/** Compares the key in DNS under a name (RFC 6376) with the private key that mails are signed with. */
export async function examineDkim(dns: Resolver, at: string, pem: string): Promise<Finding> {
  const name = `DKIM ${at}`;
  const wanted = (action: DnsRecord['action']): DnsRecord[] => [
    { action, name: at, type: 'TXT', value: dkimRecordFor(pem) },
  ];
  const answer = await dns('TXT', at);
  if (answer.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind !== 'found') {
    const message = 'DNS has no such record: the signatures of your mails cannot be checked';
    return finding(name, 'fail', message, wanted('add'));
  }
  if (answer.records.length > 1) {
    const message = `there are ${answer.records.length} records, and receivers pick any: leave one of them`;
    return finding(name, 'fail', message, wanted('change'));
  }
  const { status, message } = await judgeKey(answer.records[0]!, pem);
  return finding(name, status, message, status === 'ok' ? [] : wanted('change'));
}

async function judgeKey(text: string, pem: string): Promise<Pick<Finding, 'status' | 'message'>> {
  if (/(^|;)\s*p\s*=\s*(;|$)/.test(text)) {
    return { status: 'fail', message: 'the record says that this key was withdrawn (p= is empty)' };
  }
  const { getPublicKey } = await import('mailauth/lib/tools.js');
  const options = { strict: true, hashAlgo: 'sha256' };
  try {
    const published = await getPublicKey('DKIM', 'key', 1, async () => [text], options);
    if (!createPublicKey(published.publicKey).equals(createPublicKey(createPrivateKey(pem)))) {
      const message = 'the record holds another key than the one mails are signed with';
      return { status: 'fail', message };
    }
    if (published.testing) {
      const message = 'the record says t=y, testing: receivers treat your mails as unsigned';
      return { status: 'warn', message };
    }
    const good = `the public key is there, RSA ${published.modulusLength} bits`;
    if (published.modulusLength >= goodBits) return { status: 'ok', message: good };
    return { status: 'warn', message: `${good}: make one of ${goodBits}, under a new selector` };
  } catch (error) {
    return { status: 'fail', message: `the record is wrong: ${(error as Error).message}` };
  }
}

export const dkimRecordFor = (pem: string) =>
  `v=DKIM1; k=rsa; p=${createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'der' }).toString('base64')}`;

/**
 * Judges the route of mails to a domain. Many servers take no mail from a domain that they cannot answer. `what`
 * says in words what arrives there: bounces, or replies to the sender.
 */
export async function examineMx(dns: Resolver, domain: string, what: string): Promise<Finding> {
  const name = `MX ${domain}`;
  const answer = await dns('MX', domain);
  if (answer.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${answer.why}`);
  if (answer.kind === 'no_name') {
    return finding(name, 'fail', `the domain does not exist in DNS: ${what} arrive nowhere`);
  }
  const exchanges = answer.kind === 'found' ? answer.records.map((each) => each.exchange) : [];
  if (exchanges.some((exchange) => exchange === '' || exchange === '.')) {
    return finding(name, 'fail', `the domain says that it takes no mail: ${what} are lost`);
  }
  const hosts = exchanges.length > 0 ? exchanges : [domain];
  const names = hosts.join(', ');
  const addresses = best(await Promise.all(hosts.map((host) => addressesOf(dns, host))));
  if (addresses.kind === 'failed') {
    return finding(name, 'fail', `${names} cannot be looked up: ${addresses.why}`);
  }
  if (exchanges.length === 0) return judgeWithoutMx(name, what, addresses);
  if (addresses.kind !== 'found') {
    return finding(name, 'fail', `${names} has no address: ${what} arrive nowhere`);
  }
  return finding(name, 'ok', `${what} go to ${names}`);
}

/** One host with an address is enough; without any, a failed lookup leaves it open. */
const best = (answers: readonly DnsAnswer<string>[]) =>
  answers.find(({ kind }) => kind === 'found') ??
  answers.find(({ kind }) => kind === 'failed') ??
  answers[0]!;

function judgeWithoutMx(name: string, what: string, addresses: DnsAnswer<string>): Finding {
  if (addresses.kind !== 'found') {
    return finding(name, 'fail', `there is neither MX nor address: ${what} arrive nowhere`);
  }
  const message = `there is no MX record: ${what} go to ${addresses.records.join(', ')} itself, if a mail server listens there`;
  return finding(name, 'warn', message);
}

/** An address that mails leave from needs a name that leads back to it. */
export async function examinePtr(dns: Resolver, ip: string): Promise<Finding> {
  const name = `PTR ${ip}`;
  const answer = await dns('PTR', reverseName(ip));
  if (answer.kind === 'failed') return finding(name, 'warn', `cannot be looked up: ${answer.why}`);
  if (answer.kind !== 'found') {
    const message =
      'the address has no name, and many servers refuse such senders: its provider sets one';
    return finding(name, 'fail', message);
  }
  const hosts = await Promise.all(
    answer.records.map(async (host) => ({ host, addresses: await addressesOf(dns, host) })),
  );
  const confirmed = hosts.find(
    ({ addresses }) => addresses.kind === 'found' && addresses.records.includes(ip),
  );
  if (confirmed) return finding(name, 'ok', `${confirmed.host}, and back`);
  const names = answer.records.join(', ');
  const message = `its name ${names} does not lead back to it: give that name this address`;
  return finding(name, 'fail', message);
}

/** The answer of DNS for one name and one type. A server that fails is an answer too. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** The name exists, without a record of this type. */
  | { kind: 'nothing' }
  | { kind: 'no_name' }
  | { kind: 'failed'; why: string };

type MailExchange = { exchange: string; priority: number };
type Records = {
  A: string;
  AAAA: string;
  CNAME: string;
  MX: MailExchange;
  PTR: string;
  TXT: string;
};
type RecordType = keyof Records;

export type Resolver = <T extends RecordType>(
  type: T,
  name: string,
) => Promise<DnsAnswer<Records[T]>>;

const patienceMs = 3000;
/** Of one try. A second one still fits, for a packet that got lost. */
const tryMs = 1200;

type ResolverOptions = {
  server?: string | undefined;
  timeoutMs?: number;
};

/** Sends each question once, and answers within the timeout. */
export function createResolver({ server, timeoutMs = patienceMs }: ResolverOptions = {}): Resolver {
  const answers = new Map<string, Promise<DnsAnswer<unknown>>>();
  const resolve = (type: RecordType, name: string) => {
    const question = `${type} ${name.toLowerCase()}`;
    const answer = answers.get(question) ?? query(type, name, { server, timeoutMs });
    answers.set(question, answer);
    return answer;
  };
  return resolve as Resolver;
}

async function query(
  type: RecordType,
  name: string,
  { server, timeoutMs }: { server: string | undefined; timeoutMs: number },
): Promise<DnsAnswer<unknown>> {
  // One for each question: `cancel` ends all questions of a resolver.
  const dns = new NodeResolver({ timeout: Math.min(tryMs, timeoutMs), tries: 2 });
  const limit = deadline(timeoutMs, () => dns.cancel());
  try {
    if (server) dns.setServers([server]);
    const records = type === 'TXT' ? await texts(dns, name) : await dns.resolve(name, type);
    return { kind: 'found', records: records as unknown[] };
  } catch (error) {
    return failure((error as NodeJS.ErrnoException).code ?? String(error), timeoutMs);
  } finally {
    limit.clear();
  }
}

const texts = async (dns: NodeResolver, name: string) =>
  (await dns.resolveTxt(name)).map((parts) => parts.join(''));

function failure(code: string, timeoutMs: number): DnsAnswer<never> {
  if (code === 'ENOTFOUND') return { kind: 'no_name' };
  if (code === 'ENODATA') return { kind: 'nothing' };
  const late = `no name server answered within ${timeoutMs / 1000} seconds`;
  return {
    kind: 'failed',
    why: reasons[code] ?? (lateCodes.has(code) ? late : `DNS says ${code}`),
  };
}

const lateCodes = new Set(['ETIMEOUT', 'ECANCELLED']);
const reasons: Readonly<Record<string, string>> = {
  ESERVFAIL: 'its name servers fail (SERVFAIL): they are away, or its DNSSEC is broken',
  EREFUSED: 'the name server refuses to answer (REFUSED)',
  ECONNREFUSED: 'the name server cannot be reached',
  EBADRESP: 'the name server answers something that is not DNS',
  EBADNAME: 'it is not a name that DNS can have',
};

export async function addressesOf(dns: Resolver, name: string): Promise<DnsAnswer<string>> {
  const [four, six] = await Promise.all([dns('A', name), dns('AAAA', name)]);
  const records = [four, six].flatMap((each) => (each.kind === 'found' ? each.records : []));
  if (records.length > 0) return { kind: 'found', records };
  return [four, six].find(({ kind }) => kind === 'failed') ?? four;
}

/** The name under which DNS keeps the names of an address: `1.2.0.192.in-addr.arpa` for 192.0.2.1. */
export function reverseName(address: string): string {
  const bytes = ipaddr.process(address).toByteArray();
  if (bytes.length === 4) return `${bytes.reverse().join('.')}.in-addr.arpa`;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

/** The resolver in the form of Node's `dns.resolve`, which mailauth calls. */
const nodeResolve =
  (dns: Resolver): DNSResolver =>
  async (name, type) => {
    const answer = await dns(type as RecordType, name);
    if (answer.kind === 'found') return answer.records as string[];
    if (answer.kind === 'failed') throw new Error(`${name} cannot be looked up: ${answer.why}`);
    const code = answer.kind === 'nothing' ? 'ENODATA' : 'ENOTFOUND';
    throw Object.assign(new Error(`${name} is not in DNS`), { code });
  };
