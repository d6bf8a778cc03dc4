import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type SourceFile = { path: string; text: string };

export const readFiles = (...patterns: string[]): SourceFile[] =>
  globSync(patterns)
    .sort()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** Paths of our own files that a file imports; `values` leaves out type imports. */
export function importsOf({ path, text }: SourceFile, kind: 'all' | 'values' = 'all'): string[] {
  return [
    ...text.matchAll(
      /^(?:import|export)( type)?\b[^;]*?from '(\.[^']*)';|(?:import\(|^import )'(\.[^']*)'/gm,
    ),
  ]
    .filter(([, type]) => kind === 'all' || !type)
    .map(([, , from, loaded]) => join(dirname(path), (from ?? loaded)!))
    .filter((target) => target.startsWith('src/'));
}

export const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

const sqlTag = /\b(?:sql|db|tx)(?:<[^`]*>)?$/;

/** SQL templates in a source file, with `$` in place of values. */
export function statementsIn(text: string): string[] {
  const statements: string[] = [];
  let at = 0;

  function readCode() {
    for (let depth = 0; at < text.length; ) {
      const { token } = next(/[`{}]|\/\/.*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'/g);
      if (token === '`') readTemplate(sqlTag.test(text.slice(Math.max(at - 400, 0), at - 1)));
      if (token === '{') depth += 1;
      if (token === '}' && depth-- === 0) return;
    }
  }

  function readTemplate(isStatement: boolean) {
    let statement = '';
    while (at < text.length) {
      const { token, before } = next(/`|\$\{|\\[\s\S]/g);
      statement += before;
      if (token === '`') break;
      if (token === '${') readCode();
      statement += token === '${' ? '$' : token;
    }
    if (isStatement) statements.push(statement);
  }

  function next(pattern: RegExp) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const before = text.slice(at, match?.index);
    at = match ? pattern.lastIndex : text.length;
    return { token: match?.[0] ?? '', before };
  }

  readCode();
  return statements;
}
