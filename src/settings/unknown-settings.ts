const prefix = 'ASKBACK_';
/** As many wrong, missing or swapped letters as a typing mistake has. */
const mostMistakes = 2;

/** Warnings about variables that begin like a setting and are none: each with the one it is most like. */
export function unknownSettings(variables: readonly string[], known: readonly string[]): string[] {
  const names = known.flatMap((name) => [name, `${name}_FILE`]);
  return variables
    .filter((name) => name.startsWith(prefix) && !names.includes(name))
    .sort()
    .map((name) => {
      const meant = nearest(name, names);
      const question = meant ? `: did you mean ${meant}?` : '';
      return `${name} is set, and is no setting of askback${question}`;
    });
}

/** Some settings have no prefix, which is easily added by mistake. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const plain = name.slice(prefix.length);
  if (names.includes(plain)) return plain;
  const ranked = names
    .map((each) => ({ each, mistakes: Math.min(distance(name, each), distance(plain, each)) }))
    .sort((a, b) => a.mistakes - b.mistakes);
  const [best] = ranked;
  return best && best.mistakes <= mostMistakes ? best.each : undefined;
}

/** How many letters must change, go, come or be swapped to make one word of the other. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line.push(
        Math.min(
          rows[row - 1]![column]! + 1,
          line[column - 1]! + 1,
          rows[row - 1]![column - 1]! + same,
          swapped ? rows[row - 2]![column - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(line);
  }
  return rows[from.length]![to.length]!;
}
