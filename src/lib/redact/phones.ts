/** Seven digits or more with nothing but a phone number's punctuation between them, in any script's digits. */
const candidate = /[+＋(]{0,2}\p{Nd}(?:[\s().\-‐-―/·]{0,3}\p{Nd}){6,}/gu;

/**
 * Replaces phone numbers. There are too many national ways to write them to know a valid one, so every
 * long enough run of digits is one, unless the whole of it reads as something else.
 */
export function withoutPhones(text: string): string {
  return text.replace(candidate, (run, at: number) => {
    const before = text.slice(Math.max(0, at - 12), at);
    const innocent = isDates(run) || isAddress(run) || (isDotted(run) && version.test(before));
    return innocent ? run : '[phone]';
  });
}

const month = '(?:0?[1-9]|1[0-2])';
const day = '(?:0?[1-9]|[12][0-9]|3[01])';
const year = '(?:19|20)[0-9]{2}';
const date = [
  `${year}-${month}-${day}`,
  `${year}/${month}/${day}`,
  `${day}\\.${month}\\.${year}`,
  `${day}/${month}/${year}`,
  `${month}/${day}/${year}`,
  `${day}-${month}-${year}`,
].join('|');
const dates = new RegExp(`^(?:${date})(?:\\s?[-–]\\s?(?:${date}))?$`);

/** A date, or two with a dash between them. */
const isDates = (run: string) => dates.test(run);

/** An IPv4 address. Four pairs of digits are not taken for one: some countries write phone numbers so. */
function isAddress(run: string): boolean {
  const groups = run.split('.');
  const bytes = groups.every((group) => /^[0-9]{1,3}$/.test(group) && Number(group) <= 255);
  return groups.length === 4 && bytes && groups.some((group) => group.length !== 2);
}

const isDotted = (run: string) => /^[0-9]+(?:\.[0-9]+){2,}$/.test(run);
const version = /(?:\bv|version|release|build|firmware)[\s:]*$/i;
