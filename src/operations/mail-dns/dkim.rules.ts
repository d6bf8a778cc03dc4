import { type DnsRecord, type Finding, finding } from '../finding.ts';
import type { PublishedDkim } from './dkim-record.ts';
import type { DnsAnswer } from './resolver.ts';

export type DkimFacts = {
  /** The name under which DNS has the key. */
  at: string;
  /** The record that belongs there. */
  expected: string;
  published: DnsAnswer<PublishedDkim>;
};

const goodBits = 2048;

/** Nothing is signed here. Perhaps the mail server does it; that cannot be seen. */
export const unsigned = () =>
  finding(
    'DKIM',
    'warn',
    'askback signs nothing: unless your mail server signs, make a key by `openssl genrsa -out dkim.pem 2048`, set ASKBACK_DKIM_DOMAIN, ASKBACK_DKIM_SELECTOR and ASKBACK_DKIM_KEY_FILE, and ask again for the record to add',
  );

/** Whether DNS has the public half of the key that mails are signed with. */
export function judgeDkim({ at, expected, published }: DkimFacts): Finding {
  const name = `DKIM ${at}`;
  const entry = (action: DnsRecord['action']): DnsRecord[] => [
    { action, name: at, type: 'TXT', value: expected },
  ];
  if (published.kind === 'failed')
    return finding(name, 'fail', `cannot be looked up: ${published.why}`);
  if (published.kind !== 'found') {
    const message = 'DNS has no such record: the signatures of your mails cannot be checked';
    return finding(name, 'fail', message, entry('add'));
  }
  if (published.records.length > 1) {
    const message = `there are ${published.records.length} records, and receivers pick any: leave one of them`;
    return finding(name, 'fail', message, entry('change'));
  }
  const { bits, isOurs, testing, mistakes } = published.records[0]!;
  if (mistakes.length > 0) {
    return finding(name, 'fail', `the record is wrong: ${mistakes.join('; ')}`, entry('change'));
  }
  if (bits === null) {
    const message = 'the record says that this key was withdrawn (p= is empty)';
    return finding(name, 'fail', message, entry('change'));
  }
  if (!isOurs) {
    const message = 'the record holds another key than the one mails are signed with';
    return finding(name, 'fail', message, entry('change'));
  }
  if (testing) {
    const message = 'the record says t=y, testing: receivers treat your mails as unsigned';
    return finding(name, 'warn', message, entry('change'));
  }
  return judgeSize(name, bits);
}

function judgeSize(name: string, bits: number): Finding {
  const good = `the public key is there, RSA ${bits} bits`;
  if (bits >= goodBits) return finding(name, 'ok', good);
  const message = `${good}: make one of ${goodBits}, under a new selector`;
  return finding(name, 'warn', message);
}
