import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frozenProblems, parseSums } from '../ops/ci/frozen.ts';

const sum = (digit: string) => digit.repeat(64);
const frozen = parseSums(`${sum('1')}  0001_a.sql\n${sum('2')}  0002_b.sql\n`);

test('migrations may change until the first release', () => {
  assert.deepEqual(frozenProblems(undefined, frozen, false), []);
  assert.match(frozenProblems(undefined, frozen, true)[0]!, /frozen\.sha256 is missing/);
});

test('a new migration may follow the released ones', () => {
  const present = new Map([...frozen, ['0003_c.sql', sum('3')]]);
  assert.deepEqual(frozenProblems(frozen, present, true), []);
});

test('a released migration must not change, disappear or get a predecessor', () => {
  const present = new Map([
    ['0001_a.sql', sum('9')],
    ['0001_z.sql', sum('3')],
  ]);
  assert.deepEqual(frozenProblems(frozen, present, true), [
    '0001_a.sql was released and has changed: restore it, and add a new migration',
    '0002_b.sql was released and is gone: restore it',
    '0001_z.sql must sort after 0002_b.sql',
  ]);
});
