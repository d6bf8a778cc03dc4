export type Tags = { tags: ReadonlyMap<string, string>; mistakes: string[] };

/** `name=value; name=value`, as DKIM and DMARC records are written (RFC 6376, 3.2). */
export function readTags(text: string): Tags {
  const tags = new Map<string, string>();
  const mistakes: string[] = [];
  const parts = text.split(';').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  for (const part of parts) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    if (!/^[a-z][a-z0-9_]*$/.test(name)) mistakes.push(`'${shortened(part)}' is not name=value`);
    else if (tags.has(name)) mistakes.push(`${name}= is given twice`);
    else tags.set(name, part.slice(equals + 1).trim());
  }
  return { tags, mistakes };
}

const longestQuote = 60;

/** What a stranger wrote, short and on one line, to be quoted in a sentence. */
export function shortened(text: string): string {
  const line = text.toWellFormed().replace(/[\p{Cc}\s]+/gu, ' ');
  const letters = [...line];
  return letters.length > longestQuote ? `${letters.slice(0, longestQuote).join('')}...` : line;
}
