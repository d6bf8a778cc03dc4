import type { DMARCResult, DNSResolver } from 'mailauth';
import { type Finding, finding } from '../finding.ts';
import { nodeResolve, type Resolver } from './resolver.ts';

export type DmarcParties = {
  /** The domain that readers see in From. */
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

/** Text of a stranger, short and on one line. */
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
