import { type DnsRecord, type Finding, finding } from './finding.ts';
import type { Answer } from './mail-dns/resolver.ts';
import { mostLookups, type SpfOutcome } from './mail-dns/spf.ts';
import { isSpf, readSpf, type SpfRecord } from './mail-dns/spf-record.ts';

/** What is known about the machines that a domain's mails come from. */
export type Origins = {
  /** Public addresses, each with what the domain's record makes of it. */
  hosts: { ip: string; outcome: SpfOutcome }[];
  /** Whether the operator named them. What a relay's name leads to may be only where it listens. */
  certain: boolean;
  /** The host of ASKBACK_SMTP_URL. */
  relay: string | null;
};

export type SpfFacts = {
  /** The domain of the return address: the one that receivers ask. */
  domain: string;
  texts: Answer<string>;
  whole: SpfOutcome & { lookups: number };
  origins: Origins;
};

/** Relays whose own documentation says what to include. */
const includes: readonly [relay: RegExp, include: string][] = [
  [/(^|\.)(google|gmail|googlemail)\.com$/, '_spf.google.com'],
  [/(^|\.)(office365|outlook)\.com$/, 'spf.protection.outlook.com'],
  [/^email-smtp\.[a-z0-9-]+\.amazonaws\.com$/, 'amazonses.com'],
  [/(^|\.)sendgrid\.net$/, 'sendgrid.net'],
  [/(^|\.)mailgun\.org$/, 'mailgun.org'],
];

export function judgeSpf({ domain, texts, whole, origins }: SpfFacts): Finding {
  const name = `SPF ${domain}`;
  if (texts.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${texts.why}`);
  const records = texts.kind === 'found' ? texts.records.filter(isSpf) : [];
  if (records.length === 0) return judgeMissing(name, domain, { texts, origins });
  if (records.length > 1) {
    const message = `there are ${records.length} records, and receivers refuse to choose: leave one of them`;
    return finding(name, 'fail', message);
  }
  const [text = ''] = records;
  const record = readSpf(text);
  const wrong = mistakeIn(record, whole);
  if (wrong) return finding(name, 'fail', wrong);
  return judgeOrigins({ name, domain, text, record, whole }, origins);
}

function judgeMissing(
  name: string,
  domain: string,
  { texts, origins }: Pick<SpfFacts, 'texts' | 'origins'>,
): Finding {
  if (texts.kind === 'no_name') {
    return finding(name, 'fail', 'the domain does not exist in DNS: no server takes mail from it');
  }
  const terms = termsFor(origins);
  const message = 'there is no SPF record: receivers cannot tell your mails from forged ones';
  if (terms.length === 0) return finding(name, 'fail', `${message}; ${tellAddresses}`);
  return finding(name, 'fail', message, [entry('add', domain, ['v=spf1', ...terms, '~all'])]);
}

const tellAddresses =
  'to be told which to add, name the addresses that mails leave from by --sends-from';

const entry = (action: DnsRecord['action'], name: string, terms: readonly string[]): DnsRecord => ({
  action,
  name,
  type: 'TXT',
  value: terms.join(' '),
});

/** What a record must have to let these machines send. */
function termsFor({ hosts, certain, relay }: Origins): string[] {
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

type Read = {
  name: string;
  domain: string;
  text: string;
  record: SpfRecord;
  whole: SpfFacts['whole'];
};

function judgeOrigins(read: Read, origins: Origins): Finding {
  const { record, whole } = read;
  const { hosts, certain, relay } = origins;
  const refused = hosts.filter(({ outcome }) => outcome.result !== 'pass');
  const include = certain ? undefined : includeOf(relay);
  const included = record.mechanisms.some(
    (each) => each.name === 'include' && each.value === include,
  );
  const cost = `${whole.lookups} of ${mostLookups} lookups`;
  if (include ? included : hosts.length > 0 && refused.length === 0) {
    const who = include ? `${relay} (include:${include})` : hosts.map(({ ip }) => ip).join(', ');
    return judgeRest(read, `lets ${who} send, ${cost}`);
  }
  if (!include && hosts.length === 0) {
    return judgeRest(
      read,
      `is well-formed, ${cost}; whether it names your mail server cannot be seen from here: ask with --sends-from`,
    );
  }
  return judgeRefused(read, origins, refused);
}

/** It lets them send; what else could be better? */
function judgeRest({ name, record }: Read, good: string): Finding {
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

function judgeRefused({ name, domain, text }: Read, origins: Origins, refused: Origins['hosts']) {
  const { certain, relay } = origins;
  const missing = certain ? refused : origins.hosts;
  const terms = termsFor({ ...origins, hosts: missing });
  const [first = '', ...rest] = text.split(' ').filter((term) => term !== '');
  const change = entry('change', domain, [first, ...terms, ...rest]);
  if (certain) {
    const who = refused.map(({ ip, outcome }) => `${ip} (${outcome.result})`).join(', ');
    return finding(name, 'fail', `the record does not let ${who} send`, [change]);
  }
  const message = includeOf(relay)
    ? `the record does not include what ${relay} sends from`
    : `the record does not name ${refused.map(({ ip }) => ip).join(', ')}, where ${relay} is; if mails leave from elsewhere, ask with --sends-from`;
  return finding(name, 'warn', message, [change]);
}
