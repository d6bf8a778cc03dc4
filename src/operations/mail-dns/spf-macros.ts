import ipaddr from 'ipaddr.js';

/** The sender of a mail, as far as a domain in an SPF record can ask for it. */
export type SpfSender = { ip: string; local: string; domain: string; helo: string };

/** Fills `%{i}` and its kin in (RFC 7208, 7) for the record of one domain. */
export function expandMacros(text: string, domain: string, sender: SpfSender): string {
  const expanded = text.replace(
    macroForm,
    (whole, letter?: string, count?: string, reverse?: string, marks?: string) => {
      if (!letter) return { '%%': '%', '%_': ' ', '%-': '%20' }[whole] ?? whole;
      const value = macroValue(letter.toLowerCase(), domain, sender);
      if (!count && !reverse && !marks) return value;
      const parts = value.split(new RegExp(`[${(marks || '.').replace(/[-\]\\^]/g, '\\$&')}]`));
      if (reverse) parts.reverse();
      return parts.slice(count ? -Number(count) || parts.length : 0).join('.');
    },
  );
  return withinLimit(expanded);
}

const macroForm = /%(?:\{([slodiphcrtv])(\d{0,3})(r?)([.\-+,/_=]*)\}|[%_-])/gi;
const longestName = 253;

function macroValue(
  letter: string,
  domain: string,
  { ip, local, helo, ...sender }: SpfSender,
): string {
  const address = ipaddr.process(ip);
  const isFour = address.kind() === 'ipv4';
  const values: Readonly<Record<string, string>> = {
    s: `${local}@${sender.domain}`,
    l: local,
    o: sender.domain,
    d: domain,
    i: isFour ? address.toString() : dotted(address.toByteArray()),
    h: helo,
    v: isFour ? 'in-addr' : 'ip6',
  };
  return values[letter] ?? 'unknown'; // the name of the address is not asked for: no domain should use it
}

const dotted = (bytes: readonly number[]) =>
  [...bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')].join('.');

/** A name that grew too long loses labels from the left. */
function withinLimit(name: string): string {
  if (name.length <= longestName) return name;
  const dot = name.indexOf('.');
  return dot === -1 ? name.slice(0, longestName) : withinLimit(name.slice(dot + 1));
}
