// Writing CSV that spreadsheets open without running anything in it.

type Cell = string | number | boolean | null;

/** A line of CSV (RFC 4180) with its end. */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(spell).join(',')}\r\n`;

function spell(cell: Cell): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? harmless(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would run as a formula is text. */
const harmless = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
