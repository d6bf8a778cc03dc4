const notAscii = /(?<!\\)((?:\\\\)*)(\\?)([^\0-\x7f])/gu;

/**
 * Rewrites a program in ASCII, because a single other character makes V8 store the whole text with two bytes per character.
 * The bundler escapes strings and names, so the rest is in comments, regular expressions and their raw texts, where the
 * escape means the same.
 */
export const inAscii = (program: string): string =>
  program.replace(notAscii, (_, backslashes: string, _escape, character: string) => {
    const units = Array.from({ length: character.length }, (__, at) => character.charCodeAt(at));
    return backslashes + units.map(escapeUnit).join('');
  });

const escapeUnit = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;
