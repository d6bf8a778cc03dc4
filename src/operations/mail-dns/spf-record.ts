import ipaddr from 'ipaddr.js';
import { shortened } from './tag-list.ts';

type SpfQualifier = '+' | '-' | '~' | '?';

/** One term of an SPF record. What each name means is in RFC 7208, 5. */
export type SpfMechanism = {
  qualifier: SpfQualifier;
  name: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists';
  /** A domain, perhaps with macros, or a network; null means the domain that is asked about. */
  value: string | null;
  bits4: number;
  bits6: number;
};

export type SpfRecord = {
  text: string;
  mechanisms: SpfMechanism[];
  redirect: string | null;
  mistakes: string[];
};

/** Those of a domain's texts that are SPF records, read. */
export const readSpfRecords = (texts: readonly string[]) => texts.filter(isSpf).map(readSpf);

const isSpf = (text: string) => /^v=spf1( |$)/i.test(text);

/** Reads a record that begins with `v=spf1`. A record with a mistake is void for receivers. */
export function readSpf(text: string): SpfRecord {
  const record: SpfRecord = { text, mechanisms: [], redirect: null, mistakes: [] };
  const seen = new Set<string>();
  for (const term of text.split(' ').slice(1)) {
    if (term === '') continue;
    const [, modifier, value = ''] = modifierForm.exec(term) ?? [];
    if (modifier) readModifier(record, { name: modifier.toLowerCase(), value, seen });
    else readMechanism(record, term);
  }
  return record;
}

const modifierForm = /^([a-z][a-z0-9._-]*)=(.*)$/i;

function readModifier(
  record: SpfRecord,
  { name, value, seen }: { name: string; value: string; seen: Set<string> },
) {
  if (name !== 'redirect' && name !== 'exp') return; // others are for later versions, and ignored
  if (seen.has(name)) record.mistakes.push(`${name}= is given twice`);
  else if (!isDomainSpec(value)) record.mistakes.push(`'${shortened(value)}' is no domain`);
  else if (name === 'redirect') record.redirect = value;
  seen.add(name);
}

const mechanismForm =
  /^([-+~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([^/]*(?:\/(?!\/?\d)[^/]*)*))?(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/i;
const networkForm = /^([-+~?]?)(ip4|ip6):(.+)$/i;

function readMechanism(record: SpfRecord, term: string) {
  const network = networkForm.exec(term);
  const mechanism = network ? readNetwork(network) : readPlain(mechanismForm.exec(term));
  if (mechanism) record.mechanisms.push(mechanism);
  else record.mistakes.push(`'${shortened(term)}' is no term of SPF`);
}

function readNetwork([, sign, name = '', value = '']: RegExpExecArray): SpfMechanism | undefined {
  const parse = name.toLowerCase() === 'ip4' ? ipaddr.IPv4 : ipaddr.IPv6;
  const [address = '', bits, ...more] = value.split('/');
  const most = parse === ipaddr.IPv4 ? 32 : 128;
  const whole =
    parse === ipaddr.IPv4 ? ipaddr.IPv4.isValidFourPartDecimal(address) : parse.isValid(address);
  if (!whole || more.length > 0 || !isPrefix(bits, most)) return undefined;
  return mechanism({ sign, name, value: address }, bits, bits);
}

function readPlain(match: RegExpExecArray | null): SpfMechanism | undefined {
  if (!match) return undefined;
  const [, sign, spelled = '', value, bits4, bits6] = match;
  const name = spelled.toLowerCase();
  if (name === 'ip4' || name === 'ip6') return undefined; // without a network
  if (value !== undefined && (name === 'all' || !isDomainSpec(value))) return undefined;
  if (value === undefined && (name === 'include' || name === 'exists')) return undefined;
  const sized = bits4 !== undefined || bits6 !== undefined;
  if (sized && name !== 'a' && name !== 'mx') return undefined;
  if (!isPrefix(bits4, 32) || !isPrefix(bits6, 128)) return undefined;
  return mechanism({ sign, name, value: value ?? null }, bits4, bits6);
}

function mechanism(
  { sign, name, value }: { sign: string | undefined; name: string; value: string | null },
  bits4: string | undefined,
  bits6: string | undefined,
): SpfMechanism {
  return {
    qualifier: (sign || '+') as SpfQualifier,
    name: name.toLowerCase() as SpfMechanism['name'],
    value,
    bits4: Number(bits4 ?? 32),
    bits6: Number(bits6 ?? 128),
  };
}

const isPrefix = (bits: string | undefined, most: number) =>
  bits === undefined || (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= most);

/** Visible ASCII with whole macros, that ends in a macro or in a label that is not a number. */
function isDomainSpec(text: string): boolean {
  const plain = text.replace(macro, 'x');
  if (!/^[\x21-\x24\x26-\x7e]+$/.test(plain)) return false;
  return endsInMacro.test(text) || endsInLabel.test(text);
}

const macro = /%(\{[slodiphcrtv]\d{0,3}r?[.\-+,/_=]*\}|[%_-])/gi;
const endsInMacro = /%(\{[^{}]*\}|[%_-])$/;
const endsInLabel = /\.(?=[a-z0-9-]*[a-z-])[a-z0-9]([a-z0-9-]*[a-z0-9])?\.?$/i;
