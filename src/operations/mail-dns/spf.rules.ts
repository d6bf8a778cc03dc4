import { type DnsRecord, type Finding, finding } from '../finding.ts';
import type { DnsAnswer } from './resolver.ts';
import type { SpfRecord } from './spf-record.ts';

/** How many lookups a receiver spends on one mail (RFC 7208, 4.6.4). */
export const mostLookups = 10;

export type SpfResult =
  | 'pass'
  | 'fail'
  | 'softfail'
  | 'neutral'
  | 'none'
  | 'permerror'
  | 'temperror';

/** What a receiver makes of it, and why when it could make nothing of it. */
export type SpfOutcome = { result: SpfResult; why: string | null };

/** The machines that mails of a domain come from, as far as they are known. */
export type MailOrigins = {
  /** Public addresses, each with what the domain's record makes of it. */
  hosts: { ip: string; outcome: SpfOutcome }[];
  /** Whether the operator named them. The addresses of a relay may be only where it listens. */
  certain: boolean;
  /** The host of ASKBACK_SMTP_URL. */
  relay: string | null;
};

export type SpfFacts = {
  /** The domain of the return address: the one that receivers ask. */
  domain: string;
  records: DnsAnswer<SpfRecord>;
  whole: SpfOutcome & { lookups: number };
  origins: MailOrigins;
};

/** Relays whose own documentation says what to include. */
const includes: readonly [relay: RegExp, include: string][] = [
  [/(^|\.)(google|gmail|googlemail)\.com$/, '_spf.google.com'],
  [/(^|\.)(office365|outlook)\.com$/, 'spf.protection.outlook.com'],
  [/^email-smtp\.[a-z0-9-]+\.amazonaws\.com$/, 'amazonses.com'],
  [/(^|\.)sendgrid\.net$/, 'sendgrid.net'],
  [/(^|\.)mailgun\.org$/, 'mailgun.org'],
];

export function judgeSpf({ domain, records: answer, whole, origins }: SpfFacts): Finding {
  const name = `SPF ${domain}`;
  if (answer.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${answer.why}`);
  const records = answer.kind === 'found' ? answer.records : [];
  const [record] = records;
  if (!record) return judgeMissing(name, domain, { exists: answer.kind !== 'no_name', origins });
  if (records.length > 1) {
    const message = `there are ${records.length} records, and receivers refuse to choose: leave one of them`;
    return finding(name, 'fail', message);
  }
  const wrong = mistakeIn(record, whole);
  if (wrong) return finding(name, 'fail', wrong);
  return judgeOrigins({ name, domain, record, whole }, origins);
}

function judgeMissing(
  name: string,
  domain: string,
  { exists, origins }: { exists: boolean; origins: MailOrigins },
): Finding {
  if (!exists) {
    return finding(name, 'fail', 'the domain does not exist in DNS: no server takes mail from it');
  }
  const terms = termsFor(origins);
  const message =
    'there is no SPF record: receivers cannot distinguish your mails from forged ones';
  if (terms.length === 0) return finding(name, 'fail', `${message}; ${nameAddresses}`);
  return finding(name, 'fail', message, [entry('add', domain, ['v=spf1', ...terms, '~all'])]);
}

const nameAddresses =
  'to see which record to add, name the addresses that mails leave from by --sends-from';

const entry = (action: DnsRecord['action'], name: string, terms: readonly string[]): DnsRecord => ({
  action,
  name,
  type: 'TXT',
  value: terms.join(' '),
});

/** What a record must have to let these machines send. */
function termsFor({ hosts, certain, relay }: MailOrigins): string[] {
  const include = certain ? undefined : includeOf(relay);
  if (include) return [`include:${include}`];
  return hosts.map(({ ip }) => `${ip.includes(':') ? 'ip6' : 'ip4'}:${ip}`);
}

const includeOf = (relay: string | null) => includes.find(([form]) => form.test(relay ?? ''))?.[1];

function mistakeIn(record: SpfRecord, whole: SpfFacts['whole']): string | undefined {
  if (record.mistakes.length > 0) {
    return `receivers ignore the record, for it is wrong: ${record.mistakes.join('; ')}`;
  }
  if (whole.lookups > mostLookups) {
    return `the record takes ${whole.lookups} lookups, and receivers give up after ${mostLookups}: replace includes by addresses, or leave out what no longer sends`;
  }
  if (whole.result === 'permerror') return `receivers ignore the record: ${whole.why}`;
  if (whole.result === 'temperror') return `the record cannot be followed: ${whole.why}`;
  const all = record.mechanisms.find(({ name }) => name === 'all');
  return all?.qualifier === '+' ? '+all lets the whole world send in your name' : undefined;
}

type SpfReading = {
  name: string;
  domain: string;
  record: SpfRecord;
  whole: SpfFacts['whole'];
};

function judgeOrigins(read: SpfReading, origins: MailOrigins): Finding {
  const { record, whole } = read;
  const { hosts, certain, relay } = origins;
  const refused = hosts.filter(({ outcome }) => outcome.result !== 'pass');
  const include = certain ? undefined : includeOf(relay);
  const included = record.mechanisms.some(
    (each) => each.name === 'include' && each.value?.toLowerCase() === include,
  );
  const cost = `${whole.lookups} of ${mostLookups} lookups`;
  if (include ? included : hosts.length > 0 && refused.length === 0) {
    const senders = include
      ? `${relay} (include:${include})`
      : hosts.map(({ ip }) => ip).join(', ');
    return judgeRest(read, `lets ${senders} send, ${cost}`);
  }
  if (!include && hosts.length === 0) {
    return judgeRest(
      read,
      `is well-formed, ${cost}; whether it names your mail server cannot be seen from here: ask with --sends-from`,
    );
  }
  return judgeRefused(read, origins, refused);
}

/** The record lets them send; what else could be better? */
function judgeRest({ name, record }: SpfReading, good: string): Finding {
  const all = record.mechanisms.find((each) => each.name === 'all');
  if (record.mechanisms.some((each) => each.name === 'ptr')) {
    return finding(
      name,
      'warn',
      `${good}; but ptr is no longer honoured everywhere: name addresses instead`,
    );
  }
  if (!record.redirect && (!all || all.qualifier === '?')) {
    return finding(
      name,
      'warn',
      `${good}; but it says nothing about other senders: end it with ~all or -all`,
    );
  }
  return finding(name, 'ok', good);
}

function judgeRefused(
  { name, domain, record }: SpfReading,
  origins: MailOrigins,
  refused: MailOrigins['hosts'],
) {
  const { certain, relay } = origins;
  const missing = certain ? refused : origins.hosts;
  const terms = termsFor({ ...origins, hosts: missing });
  const [first = '', ...rest] = record.text.split(' ').filter((term) => term !== '');
  const change = entry('change', domain, [first, ...terms, ...rest]);
  if (certain) {
    const senders = refused.map(({ ip, outcome }) => `${ip} (${outcome.result})`).join(', ');
    return finding(name, 'fail', `the record does not let ${senders} send`, [change]);
  }
  const message = includeOf(relay)
    ? `the record does not include what ${relay} sends from`
    : `the record does not name ${refused.map(({ ip }) => ip).join(', ')}, where ${relay} is; if mails leave from elsewhere, ask with --sends-from`;
  return finding(name, 'warn', message, [change]);
}
