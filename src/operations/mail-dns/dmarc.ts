import { type DmarcRecord, isDmarc, readDmarc } from './dmarc-record.ts';
import type { Resolver } from './resolver.ts';

/** What is kept under `_dmarc.` of a domain and of those above it, the nearest first. */
export type DmarcStep = { domain: string; records: DmarcRecord[] };
export type DmarcSteps = { steps: DmarcStep[] } | { failed: string };

const mostLabels = 7;

/** The tree walk of RFC 9989, 4.10: no list of public suffixes is needed. */
export async function walkDmarc(dns: Resolver, domain: string): Promise<DmarcSteps> {
  const domains = walkOf(domain);
  const answers = await Promise.all(domains.map((each) => dns.txt(`_dmarc.${each}`)));
  const steps: DmarcStep[] = [];
  for (const [place, answer] of answers.entries()) {
    const at = domains[place]!;
    if (answer.kind === 'failed') {
      // A top-level domain whose servers fail is nothing that its owner can mend, or that decides.
      if (!at.includes('.')) continue;
      return { failed: `_dmarc.${at} cannot be looked up: ${answer.why}` };
    }
    const records = answer.kind === 'found' ? answer.records.filter(isDmarc).map(readDmarc) : [];
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
