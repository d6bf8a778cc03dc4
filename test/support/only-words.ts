/**
 * Selects names that contain one of the words of `only=`. Without words, selects all. A hyphen matches a space. A word
 * without a match ends the process, because an empty run would look like a success.
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

/** Exits because of a wrong argument. */
export function endWith(sentence: string): never {
  console.error(sentence);
  process.exit(2);
}
