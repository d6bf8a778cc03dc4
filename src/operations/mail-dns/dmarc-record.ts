import { readTags, shortened } from './tag-list.ts';

const policies = ['none', 'quarantine', 'reject'] as const;
export type DmarcPolicy = (typeof policies)[number];
/** Whether two domains must be the same, or only of the same organization. */
export type Strictness = 'strict' | 'relaxed';

export type DmarcRecord = {
  policy: DmarcPolicy;
  subdomainPolicy: DmarcPolicy;
  dkim: Strictness;
  spf: Strictness;
  /** Whether the name is a public suffix, says its owner; null when it does not say. */
  publicSuffix: boolean | null;
  /** Where reports go. */
  reports: string[];
  mistakes: string[];
};

export const isDmarc = (text: string) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text);

/** Reads a record that begins with `v=DMARC1` (RFC 9989, 4.7). What cannot be read counts as not given. */
export function readDmarc(text: string): DmarcRecord {
  const { tags, mistakes } = readTags(text);
  const said = (name: string) => tags.get(name)?.toLowerCase();
  const policy = policyOf(said('p'));
  if (said('p') === undefined) mistakes.push('p= is missing');
  for (const name of ['p', 'sp', 'np']) {
    const value = said(name);
    if (value !== undefined && !policyOf(value)) {
      mistakes.push(`${name}=${shortened(value)} must be none, quarantine or reject`);
    }
  }
  for (const name of ['adkim', 'aspf']) {
    const value = said(name);
    if (value !== undefined && value !== 'r' && value !== 's') {
      mistakes.push(`${name}=${shortened(value)} must be r or s`);
    }
  }
  const reports = addressesIn(tags.get('rua'));
  for (const each of reports.filter((uri) => !/^[a-z][a-z0-9+.-]*:\S+$/i.test(uri))) {
    mistakes.push(`rua=${shortened(each)} must be an address such as mailto:dmarc@example.com`);
  }
  return {
    policy: policy ?? 'none',
    subdomainPolicy: policyOf(said('sp')) ?? policy ?? 'none',
    dkim: said('adkim') === 's' ? 'strict' : 'relaxed',
    spf: said('aspf') === 's' ? 'strict' : 'relaxed',
    publicSuffix: said('psd') === 'y' ? true : said('psd') === 'n' ? false : null,
    reports,
    mistakes,
  };
}

const policyOf = (word: string | undefined) => policies.find((policy) => policy === word);

const addressesIn = (list: string | undefined) =>
  (list ?? '')
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');
