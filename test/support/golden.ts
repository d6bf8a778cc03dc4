import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Compares a page or mail with its golden file; `UPDATE_GOLDEN=1` writes the file. */
export function assertGolden(name: string, lines: readonly string[]) {
  const path = `test/golden/${name}.txt`;
  const text = `${lines.map(stable).join('\n')}\n`;
  if (process.env['UPDATE_GOLDEN']) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  assert.ok(existsSync(path), `${path} is missing: UPDATE_GOLDEN=1 make test only=golden`);
  assert.deepEqual(text.split('\n'), readFileSync(path, 'utf8').split('\n'), path);
}

/** Replaces ids, tokens and hashes, which differ in every run. */
const stable = (line: string) =>
  line
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\/(f|e|s|u|reset|invitations|stop)\/[\w-]{16,}/g, '/$1/TOKEN')
    .replace(/(\/assets\/[\w-]+)\.[\w-]+\.(\w+)/g, '$1.HASH.$2')
    .replace(/boundary="[^"]*"/g, 'boundary="…"')
    .replace(/<style>[\s\S]*?<\/style>/g, '<style></style>')
    .trimEnd();

/** HTML with one tag and its text per line, for comparison by people. */
export const htmlLines = (html: string): string[] =>
  html
    .replace(/<style>[\s\S]*?<\/style>/g, '<style></style>')
    .replaceAll('\n', '⏎')
    .replace(/(<(?!\/|a\b|b\b|span\b|strong\b|br\b|time\b|bdi\b)[^>]*>)/g, '\n$1')
    .split('\n')
    .filter((line) => line.trim() !== '');
