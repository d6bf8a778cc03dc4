import { type DnsRecord, type Finding, finding } from './finding.ts';
import { belongsTo, bitsOf, dkimRecordFor, readDkim } from './mail-dns/dkim-record.ts';
import type { Answer } from './mail-dns/resolver.ts';

export type DkimFacts = {
  settings: { domain: string; selector: string; key: string };
  texts: Answer<string>;
};

const goodBits = 2048;

export const dkimName = ({ domain, selector }: DkimFacts['settings']) =>
  `${selector}._domainkey.${domain}`;

/** Nothing is signed here. Perhaps the mail server does it; that cannot be seen. */
export const unsigned = () =>
  finding(
    'DKIM',
    'warn',
    'askback signs nothing: unless your mail server signs, make a key by `openssl genrsa -out dkim.pem 2048`, set ASKBACK_DKIM_DOMAIN, ASKBACK_DKIM_SELECTOR and ASKBACK_DKIM_KEY_FILE, and ask again for the record to add',
  );

/** Whether DNS has the public half of the key that mails are signed with. */
export function judgeDkim({ settings, texts }: DkimFacts): Finding {
  const at = dkimName(settings);
  const name = `DKIM ${at}`;
  const entry = (action: DnsRecord['action']): DnsRecord[] => [
    { action, name: at, type: 'TXT', value: dkimRecordFor(settings.key) },
  ];
  if (texts.kind === 'failed') return finding(name, 'fail', `cannot be looked up: ${texts.why}`);
  if (texts.kind !== 'found') {
    const message = 'DNS has no such record: the signatures of your mails cannot be checked';
    return finding(name, 'fail', message, entry('add'));
  }
  if (texts.records.length > 1) {
    const message = `there are ${texts.records.length} records, and receivers pick any: leave one of them`;
    return finding(name, 'fail', message, entry('change'));
  }
  const { key, testing, mistakes } = readDkim(texts.records[0] ?? '');
  if (mistakes.length > 0) {
    return finding(name, 'fail', `the record is wrong: ${mistakes.join('; ')}`, entry('change'));
  }
  if (!key) {
    const message = 'the record says that this key was withdrawn (p= is empty)';
    return finding(name, 'fail', message, entry('change'));
  }
  if (!belongsTo(key, settings.key)) {
    const message = 'the record holds another key than the one mails are signed with';
    return finding(name, 'fail', message, entry('change'));
  }
  if (testing) {
    const message = 'the record says t=y, testing: receivers treat your mails as unsigned';
    return finding(name, 'warn', message, entry('change'));
  }
  return judgeSize(name, bitsOf(key));
}

function judgeSize(name: string, bits: number): Finding {
  const good = `the public key is there, RSA ${bits} bits`;
  if (bits >= goodBits) return finding(name, 'ok', good);
  const message = `${good}: make one of ${goodBits}, under a new selector`;
  return finding(name, 'warn', message);
}
