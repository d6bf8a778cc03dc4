/** An entry of DNS that is missing or has to become another one. */
export type DnsRecord = {
  action: 'add' | 'change';
  name: string;
  type: 'TXT' | 'MX' | 'PTR';
  value: string;
};

/** One thing that the doctor looked at. */
export type Finding = {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  /** What to put into DNS. */
  records?: DnsRecord[];
};

export const finding = (
  name: string,
  status: Finding['status'],
  message: string,
  records: DnsRecord[] = [],
): Finding => (records.length > 0 ? { name, status, message, records } : { name, status, message });

const longestString = 255;

/** As a zone file has it: `add: _dmarc.example.com TXT "v=DMARC1; p=none"`. */
export function recordLine({ action, name, type, value }: DnsRecord): string {
  return `${action}: ${name} ${type} ${type === 'TXT' ? quoted(value) : value}`;
}

/** A text record is made of strings of at most 255 letters; what reads it joins them. */
function quoted(text: string): string {
  const strings = text.match(new RegExp(`.{1,${longestString}}`, 'g')) ?? [''];
  return strings.map((string) => `"${string.replace(/["\\]/g, '\\$&')}"`).join(' ');
}
