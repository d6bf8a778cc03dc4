/** Sections of a page by their anchors, as Git hosts create them, each with its text up to the next heading. */
export function headingsOf(page: string): Map<string, string> {
  const sections = new Map<string, string>();
  const parts = withoutCode(page).split(/^#{1,6} +(.+)$/m);
  for (let i = 1; i < parts.length; i += 2)
    sections.set(anchorOf(parts[i]!), (parts[i + 1] ?? '').trim());
  return sections;
}

/** Link targets of a page, as written. */
export const linksOf = (page: string): string[] =>
  [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);

const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** A `#` in a code block begins a comment, not a section. */
const withoutCode = (page: string) =>
  page.replace(/^```[\s\S]*?^```$/gm, (block) => block.replaceAll(/^#/gm, ' #'));
