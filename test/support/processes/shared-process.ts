import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** More files per process save loading time, but leave fewer processes to run in parallel. */
const mostFiles = 12;
/** These tests change the state of their whole process. */
const alone = [
  'test/lib/tracing/telemetry.test.ts', // the environment
  'test/lib/outbound/tls.test.ts', // the certificate authorities
];

/**
 * Loading the service takes longer than the tests of most files, so files share a process and run one after the other.
 * Each file is a test named by its path, which contains its tests and hooks. Returns the programs to run.
 */
export function shareProcesses(files: readonly string[], processes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'askback-tests-'));
  const together = files.filter((file) => !alone.includes(file)).toSorted();
  const size = Math.min(Math.ceil(together.length / processes), mostFiles);
  const shares = [
    ...chunksOf(together, size),
    ...files.filter((file) => alone.includes(file)).map((file) => [file]),
  ];
  const programs = shares.map((share, n) => {
    const program = join(folder, `${String(n).padStart(3, '0')}.test.mjs`);
    writeFileSync(program, programOf(share));
    return program;
  });
  return { programs, remove: () => rmSync(folder, { recursive: true }) };
}

const chunksOf = (files: readonly string[], size: number) =>
  Array.from({ length: Math.ceil(files.length / size) }, (_, n) =>
    files.slice(n * size, (n + 1) * size),
  );

const programOf = (files: readonly string[]) =>
  [
    "import { test } from 'node:test';",
    ...files.map(
      (file) =>
        `await test(${JSON.stringify(file)}, () => import(${JSON.stringify(resolve(file))}));`,
    ),
    '',
  ].join('\n');
