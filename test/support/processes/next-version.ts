import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programAt } from './program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The program with one more migration, like the next version. */
export function nextVersion(migration: { name: string; text: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'askback-next-'));
  after(() => rmSync(folder, { recursive: true }));
  for (const part of ['src', 'sql', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'sql/migrations', migration.name), migration.text);
  return programAt(join(folder, 'src/main.ts'));
}
