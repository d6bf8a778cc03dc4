import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMigrations } from '../../../src/lib/db/migrate.ts';
import { parseStep, readSteps, stepsOf } from '../../../src/lib/db/migrate-step-files.ts';

test('every step has one of the forms, and belongs to a migration', () => {
  const steps = readSteps();
  assert.deepEqual(
    new Set(steps.map(({ kind }) => kind)),
    new Set(['batches', 'index', 'constraint']),
  );
  assert.deepEqual(stepsOf(steps, readMigrations()), steps);
  assert.deepEqual(stepsOf(steps, [{ name: '0050_other.sql' }]), []);
});

test('a file with several statements, or a kind that is not known, is no step', () => {
  const index = '-- index concurrently\ncreate index concurrently a on b (c);\n';
  assert.equal(parseStep('0001_a', index).kind, 'index');
  for (const text of [
    `${index}drop table b;\n`,
    index.replace(' concurrently a', ' a'),
    '-- update\nupdate b set c = 1;\n',
    '-- batches of rows\n-- next batch\nselect 1;\n',
  ]) {
    assert.throws(() => parseStep('0001_a', text), /sql\/steps\/0001_a\.sql has none of the forms/);
  }
});
