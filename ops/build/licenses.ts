import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { noticesFile, noticesFor } from './notices.ts';

/** Writes the licenses of everything in the executable; `--check` only compares. */
const folder = mkdtempSync(join(tmpdir(), 'askback-licenses-'));
try {
  const { packages } = await bundle('src/main.ts', join(folder, 'askback.mjs'));
  const text = noticesFor(packages);
  if (process.argv[2] !== '--check') {
    writeFileSync(noticesFile, text);
  } else if (readFileSync(noticesFile, 'utf8') !== text) {
    console.error(`${noticesFile} does not fit package-lock.json: run make licenses`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
