/** How long a slug gets from a name; a number behind it comes in addition. */
const longestSlug = 60;

/** Letters that Unicode does not take apart into an ASCII letter and a mark. */
const spelledOut: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
};

/** The lower-case ASCII words of a name, joined by hyphens: what an organization is called in addresses. */
export function slugOf(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[ßæœøđðþłı]/g, (letter) => spelledOut[letter] ?? '')
    .normalize('NFKD')
    .replace(/\p{M}|['’]/gu, '')
    .match(/[a-z0-9]+/g);
  const slug = (words ?? []).join('-').slice(0, longestSlug).replace(/-$/, '');
  return slug === '' ? 'organization' : slug;
}
