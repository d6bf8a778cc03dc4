import { type Section, table } from './report.ts';

/** Combines rounds: the median of each number and the majority of each verdict. */
export function mediansOf(rounds: readonly (readonly Section[])[]): Section[] {
  return rounds[0]!.map((_, at) => ({
    title: medianText(rounds.map((sections) => sections[at]!.title)),
    lines: medianLines(rounds.map((sections) => sections[at]!.lines)),
  }));
}

function medianLines(rounds: readonly (readonly string[])[]): string[] {
  const [first, ...others] = rounds;
  if (others.some(({ length }) => length !== first!.length)) {
    throw new Error('the rounds have not the same rows');
  }
  const lines = first!.map((_, at) => medianText(rounds.map((each) => tidy(each[at]!))));
  return lines.flatMap((line, at) => {
    if (!isRow(line)) return [line];
    if (isRow(lines[at - 1] ?? '')) return [];
    const end = lines.findIndex((other, place) => place > at && !isRow(other));
    const [heads, , ...rows] = lines.slice(at, end === -1 ? undefined : end).map(cellsOf);
    return table(heads!, rows);
  });
}

const isRow = (line: string) => line.startsWith('|');
const cellsOf = (row: string) =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

/** Columns are as wide as their widest number, which differs between rounds. */
const tidy = (line: string) => (isRow(line) ? `|${cellsOf(line).join('|')}|` : line);

const figure = /\d[\d,]*(?:\.\d+)?|\*\*missed\*\*|\bmet\b/g;

function medianText(texts: readonly string[]): string {
  const found = texts.map((text) => text.match(figure) ?? []);
  let at = 0;
  return texts[0]!.replace(figure, () => {
    const values = found.map((figures) => figures[at]!);
    at += 1;
    return values.toSorted(bySize)[Math.floor(values.length / 2)]!;
  });
}

/** With only two different verdicts, the middle one of the sorted list is the majority. */
function bySize(a: string, b: string): number {
  const difference = Number(a.replaceAll(',', '')) - Number(b.replaceAll(',', ''));
  return Number.isNaN(difference) ? a.localeCompare(b) : difference;
}
