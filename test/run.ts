import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { bundle } from '../ops/build/bundle.ts';
import { startTemporary } from '../src/lib/embedded-postgres/embedded.ts';
import { shareProcesses } from './support/processes/shared-process.ts';

/**
 * Runs test files against the Postgres of TEST_DATABASE_URL, or a fresh embedded one that is removed at the end.
 * Arguments select files whose path contains one of them. `--browser`, `--prometheus`, `--proxies`, `--poolers` and
 * `--clients` run the files that need these programs, one after the other.
 */
const apart =
  /^test\/(bench|drills|faults|support)\/|^test\/(binary|installed|release-upgrade)\.test\.ts$/;
/** Ends a hanging test with its name, before CI ends the whole run. The nightly year takes longer than other tests. */
const longestMs = Number(process.env['TEST_MINUTES'] ?? 15) * 60_000;
const needing = {
  '--browser': 'test/{e2e,browser}/*.e2e.ts',
  '--prometheus': 'test/prometheus/*.prometheus.ts',
  '--proxies': 'test/proxies/*.proxy.ts',
  '--poolers': 'test/poolers/*.pooler.ts',
  '--clients': 'test/clients/clients.ts',
};
const others = needing[process.argv[2] as keyof typeof needing];
/** Most files spend half of their time waiting for a process, a timer or a disk. */
const processesAtOnce = others ? 1 : availableParallelism() + 1;
const words = process.argv.slice(others ? 3 : 2);
const files = globSync(others ?? 'test/**/*.test.ts')
  .filter((file) => !apart.test(file))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

process.exitCode = files.length === 0 ? noTests() : await onSomePostgres(runTests);

function noTests(): number {
  console.error('no test file has such a name');
  return 1;
}

async function onSomePostgres(run: (url: string) => Promise<number>): Promise<number> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) return await run(given);
  console.error('starting a Postgres for the tests...');
  const server = await startTemporary();
  try {
    return await run(server.url);
  } finally {
    await server.stop();
  }
}

async function runTests(url: string): Promise<number> {
  const program = await bundleProgram();
  console.error(`running ${files.length} test files...`);
  const options = [
    '--import',
    'tsx',
    '--test',
    '--test-reporter=./test/support/reporter.ts',
    `--test-concurrency=${processesAtOnce}`,
    `--test-timeout=${longestMs}`,
  ];
  const { programs, remove } = shareProcesses(files, processesAtOnce);
  const tests = spawn(process.execPath, [...options, ...programs], {
    stdio: 'inherit',
    env: { ...process.env, ...program, TEST_DATABASE_URL: url },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal));
  return await new Promise<number>((ended) => tests.on('exit', (code) => ended(code ?? 1))).finally(
    remove,
  );
}

/** Files that need Postgres start the program, some of them many times. */
async function bundleProgram() {
  if (!files.some((file) => /\.(pg|embedded|pooler)\./.test(file))) return {};
  const path = resolve('.cache/test/bundle/askback.mjs');
  await bundle('src/main.ts', path);
  return { TEST_PROGRAM: path };
}
