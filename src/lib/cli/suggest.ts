/** The word that was probably meant, as a question to add to a complaint; nothing when none is near. */
export function didYouMean(written: string, known: readonly string[]): string {
  const allowed = Math.max(1, Math.floor(written.length / 3));
  const near = known
    .map((word) => ({ word, edits: editsBetween(written, word) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((one, other) => one.edits - other.edits);
  return near[0] ? `; did you mean '${near[0].word}'?` : '';
}

/** How many letters must be added, removed or changed (Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let place = 1; place <= other.length; place++) {
      const change = row[place - 1]! + (other[place - 1] === letter ? 0 : 1);
      next.push(Math.min(change, row[place]! + 1, next[place - 1]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}
