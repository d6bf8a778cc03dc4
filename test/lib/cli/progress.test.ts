import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from '../../../src/lib/cli/command.ts';

/** What is written for these steps of ten. */
function written(isTTY: boolean, ...steps: number[]) {
  const shown: string[] = [];
  const stream = { isTTY, write: (text: string) => shown.push(text) };
  const progress = createProgress('Restoring', stream as unknown as NodeJS.WriteStream);
  for (const done of steps) progress(done, 10);
  return shown;
}

test('a terminal is shown how far a command is, on one line that ends with it', () => {
  assert.deepEqual(written(true, 0, 9, 10, 11), [
    '\rRestoring: 0 of 10',
    '\rRestoring: 9 of 10',
    '\rRestoring: 10 of 10\n',
    '\rRestoring: 11 of 10\n',
  ]);
});

test('anything but a terminal is shown nothing', () => {
  assert.deepEqual(written(false, 0, 5, 10), []);
});
