/** The word that was probably meant, as a question to add to a complaint; nothing when none is near. */
export function didYouMean(written: string, known: readonly string[]): string {
  const allowed = Math.max(1, Math.floor(written.length / 3));
  const near = known
    .map((word) => ({ word, edits: editsBetween(written, word) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((one, other) => one.edits - other.edits);
  return near[0] ? `; did you mean '${near[0].word}'?` : '';
}

/** How many letters must be added, removed, changed or swapped with their neighbour (Damerau and Levenshtein). */
function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let line = 1; line <= one.length; line++) {
    const next = [line];
    for (let place = 1; place <= other.length; place++) {
      const change = row[place - 1]! + (other[place - 1] === one[line - 1] ? 0 : 1);
      const isSwap = one[line - 1] === other[place - 2] && one[line - 2] === other[place - 1];
      const swap = isSwap ? before[place - 2]! + 1 : change;
      next.push(Math.min(change, swap, row[place]! + 1, next[place - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[other.length]!;
}
