/** Whether text is one line that shows what it holds: it may stand in a header, on a page and in a terminal. */
export const isPlainLine = (text: string) => text.isWellFormed() && !unwanted.test(text);

// Controls, line separators, noncharacters, and the marks that override the direction of text around
// them. Joiners stay: Persian and emoji need them.
const unwanted = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]/u;
const everyUnwanted = new RegExp(unwanted.source, 'gu');

/** Any text as one line fit for a header: what `isPlainLine` refuses becomes a space. */
export const oneLine = (text: string) =>
  text.toWellFormed().replace(everyUnwanted, ' ').replace(/\s+/g, ' ').trim();
