import { type DnsRecord, type Finding, finding } from '../finding.ts';
import type { DmarcStep, DmarcSteps } from './dmarc.ts';
import type { DmarcRecord, Strictness } from './dmarc-record.ts';

/** A domain with the records under `_dmarc.` of it and of the domains above it. */
export type DmarcWalk = { domain: string; walked: DmarcSteps };

export type DmarcFacts = {
  from: DmarcWalk;
  /** The domain that DKIM signs as; null when askback signs nothing. */
  dkim: DmarcWalk | null;
  /** The domain of the return address: what SPF is asked about. */
  returnPath: DmarcWalk;
};

/** Whether the From domain says what receivers do with mails that are not its own. */
export function judgeDmarc({ domain, walked }: DmarcWalk): Finding {
  const name = `DMARC ${domain}`;
  if ('failed' in walked) return finding(name, 'fail', walked.failed);
  const several = walked.steps.find(({ records }) => records.length > 1);
  if (several) {
    const message = `_dmarc.${several.domain} has ${several.records.length} records, and receivers ignore them all: leave one`;
    return finding(name, 'fail', message);
  }
  const found = recordOf({ domain, walked });
  if (!found) {
    const message =
      'there is no DMARC record: large mailbox providers refuse such mails in numbers';
    return finding(name, 'fail', message, [addition(domain)]);
  }
  const { at, record } = found;
  const where = at === domain ? 'its record' : `the record of ${at}`;
  if (record.mistakes.length > 0) {
    return finding(name, 'fail', `${where} is wrong: ${record.mistakes.join('; ')}`);
  }
  const policy = at === domain ? record.policy : record.subdomainPolicy;
  return finding(name, 'ok', `${where} says ${policy}: ${meaning[policy]}`);
}

const meaning = {
  none: 'mails forged in your name are delivered all the same',
  quarantine: 'mails forged in your name are taken for spam',
  reject: 'mails forged in your name are refused',
};

const addition = (domain: string): DnsRecord => ({
  action: 'add',
  name: `_dmarc.${domain}`,
  type: 'TXT',
  value: 'v=DMARC1; p=none',
});

/** The record of the domain itself, else that of its organization. */
function recordOf({ domain, walked }: DmarcWalk): { at: string; record: DmarcRecord } | undefined {
  if ('failed' in walked) return undefined;
  const organization = organizationalDomain(walked.steps);
  const deciding = [domain, organization].map((at) =>
    walked.steps.find((step) => step.domain === at && step.records.length === 1),
  );
  const step = deciding.find((each) => each !== undefined);
  return step && { at: step.domain, record: step.records[0]! };
}

/** Whether DKIM or SPF vouch for the domain that readers see. One of them is enough. */
export function judgeAlignment(facts: DmarcFacts): Finding | undefined {
  const found = recordOf(facts.from);
  const from = ownedDomain(facts.from);
  const returnPath = ownedDomain(facts.returnPath);
  const signer = facts.dkim && ownedDomain(facts.dkim);
  if (!found || !from || !returnPath || signer === undefined) return undefined; // the other findings say why
  const { record } = found;
  const byDkim = signer !== null && isAligned(from, signer, record.dkim);
  const bySpf = isAligned(from, returnPath, record.spf);
  return judgeBoth({ from, signer, returnPath, record }, byDkim, bySpf);
}

function ownedDomain({ domain, walked }: DmarcWalk): OwnedDomain | undefined {
  if ('failed' in walked) return undefined;
  return { domain, organization: organizationalDomain(walked.steps) };
}

type Parties = {
  from: OwnedDomain;
  signer: OwnedDomain | null;
  returnPath: OwnedDomain;
  record: DmarcRecord;
};

function judgeBoth(parties: Parties, byDkim: boolean, bySpf: boolean): Finding {
  const { from, signer, returnPath, record } = parties;
  const name = `alignment ${from.domain}`;
  const dkim = signer && `the signature of ${signer.domain} (adkim ${record.dkim})`;
  const spf = `the return address at ${returnPath.domain} (aspf ${record.spf})`;
  if (byDkim && bySpf) return finding(name, 'ok', `${dkim} and ${spf} both speak for it`);
  if (byDkim) return finding(name, 'ok', `${dkim} speaks for it; ${spf} does not, which is enough`);
  const sign = `set ASKBACK_DKIM_DOMAIN to ${record.dkim === 'strict' ? from.domain : `${from.organization} or a name under it`}`;
  if (bySpf) {
    const alone = `only ${spf} speaks for it, and that is lost when a mail is forwarded`;
    return signer ? finding(name, 'warn', `${alone}: ${sign}`) : finding(name, 'ok', alone);
  }
  if (!signer) {
    const message = `${spf} does not speak for it, and askback signs nothing: unless your mail server signs as ${from.domain}, every mail fails DMARC`;
    return finding(name, 'warn', message);
  }
  const message = `neither ${dkim} nor ${spf} speak for it, so every mail fails DMARC: ${sign}`;
  return finding(name, 'fail', message);
}

/** The domain that an organization has as a whole: `example.com` for `news.example.com`. */
export function organizationalDomain(steps: readonly DmarcStep[]): string {
  const [first] = steps;
  const start = first?.domain ?? '';
  const valid = steps.filter(({ records }) => records.length === 1);
  for (const { domain, records } of valid) {
    const { publicSuffix } = records[0]!;
    if (publicSuffix === false) return domain;
    if (publicSuffix === true && domain !== start) return oneBelow(start, domain);
  }
  return valid.at(-1)?.domain ?? start;
}

/** Of the names between both, the one directly under the suffix. */
function oneBelow(domain: string, suffix: string): string {
  const labels = domain.split('.');
  return labels.slice(labels.length - suffix.split('.').length - 1).join('.');
}

type OwnedDomain = { domain: string; organization: string };

const isAligned = (a: OwnedDomain, b: OwnedDomain, strictness: Strictness) =>
  strictness === 'strict' ? a.domain === b.domain : a.organization === b.organization;
