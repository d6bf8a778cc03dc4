import { type Finding, finding } from '../finding.ts';
import type { DnsAnswer, MailExchange } from './resolver.ts';

export type MxFacts = {
  domain: string;
  /** What arrives there, in words: bounces, or answers to the sender. */
  what: string;
  exchanges: DnsAnswer<MailExchange>;
  /** Of the exchangers, or of the domain itself when it has none. */
  addresses: DnsAnswer<string>;
};

/** Whether mails to the domain arrive anywhere. Many servers take none from a domain that they cannot answer. */
export function judgeMx({ domain, what, exchanges, addresses }: MxFacts): Finding {
  const name = `MX ${domain}`;
  if (exchanges.kind === 'failed') {
    return finding(name, 'fail', `cannot be looked up: ${exchanges.why}`);
  }
  if (exchanges.kind === 'no_name') {
    return finding(name, 'fail', `the domain does not exist in DNS: ${what} arrive nowhere`);
  }
  const names = exchanges.kind === 'found' ? exchanges.records.map((each) => each.exchange) : [];
  if (names.some((exchange) => exchange === '' || exchange === '.')) {
    return finding(name, 'fail', `the domain says that it takes no mail: ${what} are lost`);
  }
  if (addresses.kind === 'failed') {
    const which = names.join(', ') || domain;
    return finding(name, 'fail', `${which} cannot be looked up: ${addresses.why}`);
  }
  if (names.length === 0) return judgeWithoutMx(name, what, addresses);
  if (addresses.kind !== 'found') {
    return finding(name, 'fail', `${names.join(', ')} has no address: ${what} arrive nowhere`);
  }
  return finding(name, 'ok', `${what} go to ${names.join(', ')}`);
}

function judgeWithoutMx(name: string, what: string, addresses: DnsAnswer<string>): Finding {
  if (addresses.kind !== 'found') {
    return finding(name, 'fail', `there is neither MX nor address: ${what} arrive nowhere`);
  }
  const message = `there is no MX record: ${what} go to ${addresses.records.join(', ')} itself, if a mail server listens there`;
  return finding(name, 'warn', message);
}

export type PtrFacts = {
  ip: string;
  names: DnsAnswer<string>;
  /** Of those names, the ones that lead back to the address. */
  confirmed: readonly string[];
};

/** Whether an address that mails leave from has a name that leads back to it. */
export function judgePtr({ ip, names, confirmed }: PtrFacts): Finding {
  const name = `PTR ${ip}`;
  if (names.kind === 'failed') return finding(name, 'warn', `cannot be looked up: ${names.why}`);
  if (names.kind !== 'found') {
    const message =
      'the address has no name, and many servers refuse such senders: its provider sets one';
    return finding(name, 'fail', message);
  }
  const said = names.records.join(', ');
  if (confirmed.length > 0) return finding(name, 'ok', `${confirmed[0]}, and back`);
  return finding(
    name,
    'fail',
    `its name ${said} does not lead back to it: give that name this address`,
  );
}
