/**
 * The names that the words of `only=` choose: those that contain one of them, all without words. A hyphen in a word
 * stands for a space. A word that is in no name ends the process with a sentence: a run of nothing would look like a success.
 */
export function chosenBy(words: readonly string[], names: readonly string[]): string[] {
  const isIn = (name: string) => (word: string) =>
    name.includes(word) || name.includes(word.replaceAll('-', ' '));
  const unknown = words.filter((word) => !names.some((name) => isIn(name)(word)));
  if (unknown.length > 0) {
    const all = names.map((name) => `  ${name}`).join('\n');
    endWith(`only= takes words of these names; "${unknown.join('", "')}" is in none:\n${all}`);
  }
  return names.filter((name) => words.length === 0 || words.some(isIn(name)));
}

/** Ends the process before it has begun, because of a wrong word on its command line. */
export function endWith(sentence: string): never {
  console.error(sentence);
  process.exit(2);
}
