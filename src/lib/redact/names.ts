import { withoutDoubtful } from './doubtful.ts';
import { productNames } from './product-names.ts';
import { joined, replaceWords, wordsOf } from './words.ts';

/** The recognizer's time grows with the cube of its text: it sees a comment in pieces of this length. */
const pieceLength = 300;

/** Past this much processor time for one comment, every word that could be a name is one. */
const budgetMs = 250;

/** Replaces what a reader of English would take for a name; when in doubt it is one. */
export async function withoutNames(text: string): Promise<string> {
  const nlp = await loadRecognizer();
  const end = cpuMs() + budgetMs;
  const found = new Set<string>();
  const pieces = piecesOf(text).map((piece) => {
    if (cpuMs() > end) return withoutDoubtful(piece);
    for (const name of namesIn(nlp, piece)) found.add(name);
    return piece;
  });
  const replaced = replaceWords(pieces.join(''), [...found], '[name]');
  return joined(replaced.replace(capitalNextToName, '[name]'));
}

/** The recognizer without its last step, which finds phrases: names are found by tags of words alone. */
async function loadRecognizer() {
  const { default: nlp } = await import('compromise');
  const steps = nlp.hooks();
  if (steps.includes('chunks')) steps.splice(steps.indexOf('chunks'), 1);
  return nlp;
}

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Cut at white space where there is any. */
const piecesOf = (text: string) =>
  text.match(new RegExp(`[^]{1,${pieceLength}}(?!\\S)|[^]{1,${pieceLength}}`, 'gu')) ?? [];

function namesIn(nlp: (text: string) => Nlp, piece: string): string[] {
  const doc = nlp(piece.replace(/\[(?:email|phone|name)\]/g, ','));
  // To look for phrases costs as much as to tag a short comment, and each has a word with one of these tags.
  if (!doc.termList().some(({ tags }) => tags?.has('Person') || tags?.has('ProperNoun'))) return [];
  const people = doc.people().terms().out('array') as string[];
  const proper = doc.match('#ProperNoun').not('(#Place|#Organization|#Date|#Acronym)');
  return [...people, ...(proper.out('array') as string[])]
    .flatMap(wordsOf)
    .filter((word) => !productNames.has(word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')));
}

type Nlp = ReturnType<typeof import('compromise').default>;

/** A capital next to a name is taken for its other half. */
const capitalNextToName = /\b\p{Lu}[\p{L}'’-]+ \[name\]|\[name\] \p{Lu}[\p{L}'’-]+/gu;
