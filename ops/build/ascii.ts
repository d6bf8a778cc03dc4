const notAscii = /(?<!\\)((?:\\\\)*)(\\?)([^\0-\x7f])/gu;

/**
 * The same program in ASCII. One other character, in a comment even, makes V8 keep and read all of the text with two bytes a
 * character. The bundler escapes strings and names; what it leaves is in comments, in patterns, and in raw texts that
 * become patterns: there the escape means the same, and a backslash before the character meant nothing.
 */
export const inAscii = (program: string): string =>
  program.replace(notAscii, (_, backslashes: string, _escape, character: string) => {
    const units = Array.from({ length: character.length }, (__, at) => character.charCodeAt(at));
    return backslashes + units.map(escapeUnit).join('');
  });

const escapeUnit = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;
