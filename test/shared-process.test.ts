import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { shareProcesses } from './support/processes/shared-process.ts';

const passing = (name: string) => `
  import { after, before, test } from 'node:test';
  before(() => console.log('${name} begins'));
  await new Promise(setImmediate);
  test('${name} works', () => console.log('${name} runs'));
  after(() => console.log('${name} ends'));`;
const failing = `
  import { test } from 'node:test';
  test('well', () => {});
  test('wrong', () => { throw new Error('not as it should be'); });`;

function filesOf(t: TestContext, contents: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'askback-shared-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return Object.entries(contents).map(([name, content]) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  });
}

function run(files: readonly string[]) {
  const { programs, remove } = shareProcesses(files, 1);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const reporter = ['--import', 'tsx', '--test', '--test-reporter=./test/support/reporter.ts'];
  const { status, stdout } = spawnSync(process.execPath, [...reporter, ...programs], {
    env,
    encoding: 'utf8',
  });
  remove();
  return { status, lines: stdout.split('\n').map((line) => line.trim()) };
}

test('a failure shows its name and counts once, and later files still run', (t) => {
  const files = filesOf(t, { 'a.test.mjs': failing, 'b.test.mjs': passing('next') });
  const { status, lines } = run(files);
  const all = lines.join('\n');
  assert.equal(status, 1);
  for (const line of ['ℹ tests 3', 'ℹ pass 2', 'ℹ fail 1', 'next runs'])
    assert.ok(lines.includes(line), all);
  assert.match(all, /✖ wrong[\s\S]*not as it should be/);
  assert.match(all, /✖ .*a\.test\.mjs .*, 2 tests/);
});

test('shareProcesses runs up to 12 files per process, and some alone', (t) => {
  const names = Array.from({ length: 30 }, (_, n) => `test/room/n${n}.test.ts`);
  const alone = 'test/lib/tracing/telemetry.test.ts';
  const { programs, remove } = shareProcesses([alone, ...names], 2);
  t.after(remove);
  const filesIn = programs.map((program) =>
    [...readFileSync(program, 'utf8').matchAll(/test\("([^"]+)"/g)].map(([, file]) => file),
  );
  assert.deepEqual(filesIn.flat().toSorted(), [alone, ...names].toSorted());
  assert.ok(filesIn.every(({ length }) => length <= 12));
  assert.ok(filesIn.some((files) => files.length === 1 && files[0] === alone));
});
