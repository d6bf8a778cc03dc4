import { globSync, readFileSync } from 'node:fs';

/**
 * Checks the rules of .github/CONTRIBUTING.md that a pattern can check: comments never begin with the words below, and
 * titles of tests have at most 70 characters. If a rule would make a sentence worse, add the sentence to `exceptions`.
 */
const exceptions: readonly string[] = [];

const opening = /\b(What|Whether|Of|That|Those)\b/;
const maxTitle = 70;

const complaints = [
  ...globSync('{src,test}/**/*.{ts,tsx,js}').flatMap((path) => [
    ...comments(path, /\/\*\*?\s+(?:\* )?|\/\/ /g, '//'),
    ...titles(path),
  ]),
  ...globSync('sql/**/*.sql').flatMap((path) => comments(path, /-- /g, '--')),
].filter((complaint) => !exceptions.some((sentence) => complaint.includes(sentence)));

for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;

/** `mark` begins a comment of one line. Lines that continue the one above may begin with any word. */
function comments(path: string, start: RegExp, mark: string): string[] {
  const text = readFileSync(path, 'utf8');
  const found = [];
  for (const { 0: sign, index } of text.matchAll(start)) {
    const rest = text.slice(index + sign.length).split('\n', 1)[0]!;
    const line = lineOf(text, index);
    const continues = sign.startsWith(mark) && text.split('\n')[line - 2]?.trim().startsWith(mark);
    if (!continues && rest.search(opening) === 0)
      found.push(`${path}:${line}: a comment begins with "${rest.split(' ', 1)}": ${rest}`);
  }
  return found;
}

function titles(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/^\s*(?:await )?test\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm)]
    .map(({ 2: title, index }) => ({
      title: title!.replace(/\$\{[^}]*\}/g, '').replace(/\\(.)/g, '$1'),
      index,
    }))
    .filter(({ title }) => title.length > maxTitle)
    .map(({ title, index }) => {
      const place = `${path}:${lineOf(text, text.indexOf('test(', index))}`;
      return `${place}: a title has ${title.length} characters, at most ${maxTitle}: ${title}`;
    });
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
