import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One file of the repository, as the walls read it. */
export type SourceFile = { path: string; text: string };

export const readFiles = (...patterns: string[]): SourceFile[] =>
  globSync(patterns)
    .sort()
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** `src/sends/rules.ts` stands in `sends`, `src/lib/db/db.ts` in `lib/db`, `src/main.ts` is its own place. */
export function placeOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return first === 'lib' ? `lib/${second}` : first;
}

/** The files of ours that a file imports; `values` leaves out imports that only name types. */
export function importsOf({ path, text }: SourceFile, kind: 'all' | 'values' = 'all'): string[] {
  const clauses = text.matchAll(/(?:^|[\s}])(?:from|import\(|import) ?'(\.[^']*)'/g);
  return [...clauses]
    .filter(({ index }) => kind === 'all' || !isTypeOnly(text.slice(0, index)))
    .map(([, target]) => join(dirname(path), target!))
    .filter((target) => target.startsWith('src/'));
}

function isTypeOnly(before: string): boolean {
  const statement = before.slice(
    Math.max(before.lastIndexOf('\nimport '), before.lastIndexOf('\nexport ')) + 1,
  );
  return /^(import|export) type\b/.test(statement);
}

/** Fails with the words that match, not with the whole file. */
export function assertWithout(text: string, pattern: RegExp, advice: string): void {
  const found = pattern.exec(text)?.[0];
  assert.ok(found === undefined, `${advice} (found: ${found?.trim()})`);
}
