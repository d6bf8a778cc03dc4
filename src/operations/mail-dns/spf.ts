import { hostname } from 'node:os';
import { type DnsRecord, type Finding, finding } from '../finding.ts';
import { nodeResolve, type Resolver } from './resolver.ts';

/** The machines that mails leave from. */
export type Machines = {
  /** Public addresses. */
  ips: readonly string[];
  /** The operator named the addresses. Those of a relay may be only where it listens. */
  certain: boolean;
  /** The host of ASKBACK_SMTP_URL. */
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

/** The result that a receiver gives to mails of the domain from an address, and the lookups that it needs. */
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

/** The terms of a record that let machines send. */
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

/** Advice on a record that lets the machines send. */
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
