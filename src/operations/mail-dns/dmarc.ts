import { isDmarc, readDmarc, type Strictness } from './dmarc-record.ts';
import type { Resolver } from './resolver.ts';

/** What is kept under `_dmarc.` of a domain and of those above it, the nearest first. */
export type Step = { domain: string; records: string[] };
export type Walked = { steps: Step[] } | { failed: string };

const mostLabels = 7;

/** The tree walk of RFC 9989, 4.10: no list of public suffixes is needed. */
export async function walkDmarc(dns: Resolver, domain: string): Promise<Walked> {
  const domains = walkOf(domain);
  const answers = await Promise.all(domains.map((each) => dns.txt(`_dmarc.${each}`)));
  const steps: Step[] = [];
  for (const [place, answer] of answers.entries()) {
    const at = domains[place]!;
    if (answer.kind === 'failed') {
      // A top-level domain whose servers fail is nothing that its owner can mend, or that decides.
      if (!at.includes('.')) continue;
      return { failed: `_dmarc.${at} cannot be looked up: ${answer.why}` };
    }
    const records = answer.kind === 'found' ? answer.records.filter(isDmarc) : [];
    steps.push({ domain: at, records });
  }
  return { steps };
}

/** The domain, then those above it; a very long name skips those in between. */
export function walkOf(domain: string): string[] {
  const labels = domain.split('.');
  const from = Math.max(1, labels.length - mostLabels);
  const above = labels.slice(from).map((_, place) => labels.slice(from + place).join('.'));
  return [domain, ...above];
}

/** The domain that an organization has as a whole: `example.com` for `news.example.com`. */
export function organizationalDomain(steps: readonly Step[]): string {
  const [first] = steps;
  const start = first?.domain ?? '';
  const valid = steps.filter(({ records }) => records.length === 1);
  for (const { domain, records } of valid) {
    const { publicSuffix } = readDmarc(records[0]!);
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

export type Named = { domain: string; organization: string };

export const isAligned = (a: Named, b: Named, strictness: Strictness) =>
  strictness === 'strict' ? a.domain === b.domain : a.organization === b.organization;
