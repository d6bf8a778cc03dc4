import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { test } from 'node:test';

test('ops/askback runs from any folder, whatever Node the machine has', () => {
  const output = execFileSync(resolve('ops/askback'), ['version'], {
    cwd: tmpdir(),
    env: { PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  });
  assert.match(output, /^askback \d+\.\d+\.\d+\n$/);
});
